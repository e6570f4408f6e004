// Lists the loader's folders; see libraries_folders.h. Rules: ld.so(8), ldconfig(8), and glibc's
// elf/ldconfig.c for includes.
#include "agent/host/libraries_folders.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "agent/host/recorded.h"

namespace gpucheck::host {
namespace {

constexpr std::size_t kMaxFolders = 128;
constexpr int kMaxIncludeDepth = 8, kMaxConfigFiles = 64;

// glibc's defaults and the multiarch folders that Debian and Ubuntu build into theirs.
constexpr std::array kDefaults{
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};

class FolderList {
  public:
    explicit FolderList(const Sysroot& root) : root_(root) {}

    void add(std::string_view path, std::string_view found_by) {
        while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
        // A relative or $ORIGIN entry depends on the program, and nobody's program is being started here.
        if (path.empty() || path.front() != '/' || path.find('$') != std::string_view::npos) return;
        if (path.size() > 1024 || !is_text(path) || path.starts_with("/usr/lib/wsl")) return;
        const bool known = std::any_of(folders_.begin(), folders_.end(),
                                       [&](const LibraryFolder& folder) { return folder.path == path; });
        if (known || folders_.size() == kMaxFolders) return;
        folders_.push_back({std::string(path), std::string(found_by)});
    }

    void add_library_path() {
        const auto& env = root_.process().env;
        const auto found = env.find("LD_LIBRARY_PATH");
        if (found == env.end()) return;
        std::string_view rest = found->second;
        for (;;) {
            const std::size_t end = rest.find_first_of(":;");
            add(rest.substr(0, end), "LD_LIBRARY_PATH");
            if (end == std::string_view::npos) return;
            rest.remove_prefix(end + 1);
        }
    }

    void add_config(const std::string& path, int depth) {
        if (depth > kMaxIncludeDepth || config_files_++ >= kMaxConfigFiles) return;
        const Fact<std::string> content = root_.read(path);
        if (!content.known()) return;
        for (std::string_view line : lines_of(content.value())) {
            line = line.substr(0, line.find('#'));
            const std::size_t start = line.find_first_not_of(" \t");
            if (start == std::string_view::npos) continue;
            line = trim(line.substr(start));
            constexpr std::string_view kInclude = "include";
            if (line.starts_with(kInclude) && line.find_first_of(" \t") == kInclude.size()) {
                include(line.substr(line.find_first_not_of(" \t", kInclude.size())), path, depth);
            } else if (!line.starts_with("hwcap ")) {
                add(trim(line.substr(0, line.find('='))), "ld.so.conf");  // "folder=libc6" is an old form
            }
        }
    }

    // Patterns are relative to the including file; only the last component may hold wildcards.
    void include(std::string_view pattern, const std::string& from, int depth) {
        while (!pattern.empty()) {
            const std::size_t end = pattern.find_first_of(" \t");
            std::string one(pattern.substr(0, end));
            pattern = end == std::string_view::npos ? std::string_view{} : pattern.substr(end + 1);
            if (one.empty()) continue;
            if (one.front() != '/') one = from.substr(0, from.rfind('/') + 1) + one;
            const std::size_t slash = one.rfind('/');
            const std::string folder = slash == 0 ? "/" : one.substr(0, slash);
            if (one.find_first_of("*?") == std::string::npos) {
                add_config(one, depth + 1);
                continue;
            }
            const Fact<std::vector<std::string>> names = root_.list(folder);
            if (!names.known()) continue;
            for (const std::string& name : names.value()) {
                const std::string path = folder + "/" + name;
                if (path_matches(one, path)) add_config(path, depth + 1);
            }
        }
    }

    std::vector<LibraryFolder> take() { return std::move(folders_); }

  private:
    const Sysroot& root_;
    std::vector<LibraryFolder> folders_;
    int config_files_ = 0;
};

}  // namespace

std::vector<LibraryFolder> library_folders(const Sysroot& root) {
    FolderList list(root);
    list.add_library_path();
    if (root.exists("/etc/ld.so.conf").is(true)) {
        list.add_config("/etc/ld.so.conf", 0);
    } else {
        // Every distribution's ld.so.conf includes this folder; recordings may hold only what lies in it.
        list.include("/etc/ld.so.conf.d/*.conf", "/etc/ld.so.conf", 0);
    }
    for (const char* path : kDefaults) list.add(path, "default");
    list.add("/opt/rocm/lib", "rocm");
    return list.take();
}

}  // namespace gpucheck::host
