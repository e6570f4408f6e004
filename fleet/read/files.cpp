// Walks folders without following a circle, opening a FIFO or hanging on a device; see files.h.
#include "fleet/read/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostLevels = 64;

bool is_report_name(std::string_view name) {
    if (name.starts_with('.')) return false;  // half-written files of ours and of rsync
    for (const std::string_view packed : {".gz", ".zst", ".xz"}) {
        if (name.ends_with(packed)) {
            name.remove_suffix(packed.size());
            break;
        }
    }
    return name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".report");
}

/// Somebody meant it to be a report: why it is none; empty: it has another name altogether.
std::string unread_name(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (is_report_name(lower)) return "is not read: names of reports end in lower case (.json)";
    for (const std::string_view packed : {".bz2", ".lz4", ".lzma", ".zip", ".7z", ".br", ".z"}) {
        if (lower.ends_with(packed) && is_report_name(lower.substr(0, lower.size() - packed.size())))
            return "is compressed as " + std::string(packed) +
                   ", which gpucheck does not open: only .gz, .xz and .zst";
    }
    return {};
}

std::string kind_of(mode_t mode) {
    if (S_ISFIFO(mode)) return "is a pipe, not a file";
    if (S_ISSOCK(mode)) return "is a socket, not a file";
    if (S_ISCHR(mode) || S_ISBLK(mode)) return "is a device, not a file";
    if (S_ISDIR(mode)) return "is a folder";
    return "is no regular file";
}

std::string reason_of(int error) {
    if (error == ELOOP) return "is a circle of links";
    return "cannot be read: " + disk::reason(error);
}

using Identity = std::pair<dev_t, ino_t>;

class Walker {
  public:
    explicit Walker(const Walk& walk) : walk_(walk) {}
    void start(const std::string& path, const struct stat& status) {
        above_.emplace_back(status.st_dev, status.st_ino);
        seen_.insert(above_.back());
        folder(path, 0);
    }

  private:
    void folder(const std::string& path, std::size_t level) {
        const std::size_t before = found_;
        if (level > kMostLevels) return refuse(path, "lies deeper than 64 folders");
        const auto close = [](DIR* open) { ::closedir(open); };
        const std::unique_ptr<DIR, decltype(close)> opened(::opendir(path.c_str()), close);
        if (opened == nullptr) return refuse(path, reason_of(errno));
        std::vector<std::string> names;
        errno = 0;
        while (const dirent* entry = ::readdir(opened.get())) {
            const std::string_view name = entry->d_name;
            if (name != "." && name != "..") names.emplace_back(name);
            errno = 0;
        }
        if (errno != 0) refuse(path, reason_of(errno));
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) entry(path, name, level);
        if (level == 0 && found_ == before)
            refuse(path,
                   "holds no report: no file's name ends in .json, .jsonl or .report (or these and "
                   ".gz, .zst, .xz)");
    }
    void refuse(const std::string& path, const std::string& why) {
        ++found_;
        walk_.refused(path, why);
    }
    void entry(const std::string& folder_path, const std::string& name, std::size_t level) {
        const std::string path = folder_path + (folder_path.ends_with('/') ? "" : "/") + name;
        struct stat status {};
        const bool known = ::stat(path.c_str(), &status) == 0;
        const int error = errno;
        if (known && S_ISDIR(status.st_mode)) {
            const Identity own(status.st_dev, status.st_ino);
            if (std::find(above_.begin(), above_.end(), own) != above_.end())
                return refuse(path, "is a circle of links");
            // Another link to a folder whose files were read adds nothing.
            if (!seen_.insert(own).second) return;
            above_.push_back(own);
            folder(path, level + 1);
            above_.pop_back();
            return;
        }
        if (!is_report_name(name)) {
            if (name.starts_with('.')) return;
            if (const std::string why = unread_name(name); !why.empty()) return refuse(path, why);
            if (walk_.passed_over) walk_.passed_over(path);
            return;
        }
        if (!known) return refuse(path, reason_of(error));
        if (!S_ISREG(status.st_mode)) return refuse(path, kind_of(status.st_mode));
        ++found_;
        walk_.file(path);
    }

    const Walk& walk_;
    std::set<Identity> seen_;
    std::vector<Identity> above_;  // the folders one is in
    std::size_t found_ = 0;
};

}  // namespace

std::optional<std::string> walk(const std::string& path, const Walk& walk) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        const int error = errno;
        if (error == ENOENT || error == ENOTDIR) return path + ": there is no such file or folder";
        walk.refused(path, reason_of(error));
        return std::nullopt;
    }
    if (!S_ISDIR(status.st_mode)) {
        walk.file(path);
        return std::nullopt;
    }
    Walker walker(walk);
    walker.start(path, status);
    return std::nullopt;
}

std::variant<OpenFile, std::string> open_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return reason_of(errno);
    const bool handed_over = path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
    const auto readable = [&] {
        return S_ISREG(status.st_mode) || (handed_over && S_ISFIFO(status.st_mode));
    };
    if (!readable()) return kind_of(status.st_mode);
    const int blocking = S_ISREG(status.st_mode) ? O_NONBLOCK : 0;
    OpenFile open{disk::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | blocking)), 0};
    if (!open.descriptor) return reason_of(errno);
    // It may be another file by now.
    if (::fstat(open.descriptor.get(), &status) != 0) return reason_of(errno);
    if (!readable()) return kind_of(status.st_mode);
    open.size = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
    return open;
}

}  // namespace gpucheck::fleet
