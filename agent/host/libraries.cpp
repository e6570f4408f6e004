// Lists the vendor libraries in the loader's folders; see libraries.h.
#include "agent/host/libraries.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "agent/host/libraries_folders.h"

namespace gpucheck::host {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxLibraries = 64;  // each costs three look-ups
constexpr std::size_t kMaxNames = 262144;  // listed in all folders together

// What programs ask the loader for: a name with one number, "libamdhip64.so.6", or the bare name where that
// is asked for too.
struct Family {
    std::string_view stem;   // up to and including ".so"
    std::string_view exact;  // the one number asked for; empty: any
    bool bare;               // also without a number
};
constexpr std::array kFamilies{
    Family{"libcuda.so"sv, "1"sv, false},    Family{"libnvidia-ml.so"sv, "1"sv, false},
    Family{"libamdhip64.so"sv, ""sv, false}, Family{"librocm_smi64.so"sv, ""sv, false},
    Family{"libamd_smi.so"sv, ""sv, true},   Family{"libhsa-runtime64.so"sv, "1"sv, false},
};

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 6 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A toolkit's stubs/ holds libcuda.so without a number; programs that load by that name get it
// (numba/numba#9732).
std::optional<std::size_t> family_of(std::string_view name, bool in_stubs) {
    for (std::size_t i = 0; i < kFamilies.size(); ++i) {
        const Family& family = kFamilies[i];
        if (!name.starts_with(family.stem)) continue;
        std::string_view rest = name.substr(family.stem.size());
        if (rest.empty()) return family.bare || in_stubs ? std::optional(i) : std::nullopt;
        if (rest.front() != '.') continue;
        rest.remove_prefix(1);
        if (is_number(rest) && (family.exact.empty() || rest == family.exact)) return i;
        return std::nullopt;
    }
    return std::nullopt;
}

bool has_component(std::string_view path, std::string_view wanted) {
    for (std::size_t at = path.find(wanted); at != std::string_view::npos; at = path.find(wanted, at + 1)) {
        const bool starts = at > 0 && path[at - 1] == '/';
        const std::size_t end = at + wanted.size();
        if (starts && end < path.size() && path[end] == '/') return true;
    }
    return false;
}

// "570.133.20" of libcuda.so.570.133.20, the file behind the soname. A file that is called like its soname
// tells none.
Fact<std::string> version_from(const Fact<std::string>& real_path, const std::string& soname) {
    if (!real_path.known()) return real_path.missing();
    const std::string& path = real_path.value();
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::size_t so = name.find(".so.");
    if (name != soname && so != std::string::npos) {
        std::string version = name.substr(so + 4);
        const bool digits = version.find_first_not_of("0123456789.") == std::string::npos;
        if (digits && !version.empty() && version.front() != '.' && version.back() != '.') {
            return Fact<std::string>(std::move(version), path);
        }
    }
    return Missing{path, "no version in the file's name"};
}

Library library_at(const Sysroot& root, const LibraryFolder& folder, const std::string& name) {
    Library library;
    library.soname = name;
    library.path = folder.path + "/" + name;
    library.found_by = folder.found_by;
    library.real_path = root.real_path(library.path);
    library.version = version_from(library.real_path, name);
    library.size_bytes = root.file_size(library.path);
    const std::string_view real =
        library.real_path.known() ? std::string_view(library.real_path.value()) : ""sv;
    library.stub = has_component(library.path, "stubs") || has_component(real, "stubs");
    library.compat = has_component(library.path, "compat") || has_component(real, "compat");
    return library;
}

}  // namespace

std::vector<Library> read_libraries(const Sysroot& root) {
    std::array<std::vector<Library>, kFamilies.size()> by_family;
    std::set<std::string> seen;  // /lib and /usr/lib are one folder on most systems
    std::size_t total = 0, names_seen = 0;
    for (const LibraryFolder& folder : library_folders(root)) {
        const Fact<std::string> real = root.real_path(folder.path);
        if (!real.known() || real.value().starts_with("/usr/lib/wsl") || !seen.insert(real.value()).second)
            continue;
        const Fact<std::vector<std::string>> names = root.list(folder.path);
        if (!names.known()) continue;
        names_seen += names.value().size();
        if (names_seen > kMaxNames) break;
        const bool in_stubs = has_component(folder.path + "/", "stubs");
        for (const std::string& name : names.value()) {
            const std::optional<std::size_t> family = family_of(name, in_stubs);
            if (!family || total == kMaxLibraries) continue;
            by_family[*family].push_back(library_at(root, folder, name));
            ++total;
        }
    }
    std::vector<Library> libraries;
    for (std::vector<Library>& family : by_family) {
        std::move(family.begin(), family.end(), std::back_inserter(libraries));
    }
    return libraries;
}

}  // namespace gpucheck::host
