// Files of ours that must survive a power cut, and small files of others that must not hurt us: a key, a
// token, a config and a report that waits for its receiver.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace gpucheck::disk {

struct Error {
    int number = 0;    ///< errno, or 0 when none says it
    std::string what;  ///< "/etc/gpucheck/config.json: no permission"
};

/// A descriptor that closes itself.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

struct Content {
    std::string text;
    mode_t mode = 0;
};
/// A regular file of at most `most` bytes. FIFOs, devices and folders are errors, and never waited for.
std::variant<Content, Error> read_file(const std::string& path, std::size_t most);
/// The same of an open descriptor, from its beginning.
std::variant<Content, Error> read_open(int fd, const std::string& path, std::size_t most);

/// Others than the owner may read it.
inline bool readable_by_others(mode_t mode) {
    return (mode & 077U) != 0;
}

/// Makes the folder and what is missing above it, each with mode 0700, and opens it.
std::variant<Descriptor, Error> make_folder(const std::string& path);

/// Writes a new file `name` of mode 0600 into the folder: under a temporary name, fsync, rename (or link,
/// which never replaces), fsync of the folder. When this returns nullopt the file survives a power cut.
/// EEXIST: with `replace` false, somebody was faster.
std::optional<Error> write_new(int folder, const std::string& name, std::string_view content, bool replace);
/// The same without waiting for the disk: for what may be lost with the power.
std::optional<Error> write_soon(int folder, const std::string& name, std::string_view content);
/// Temporary names begin with this.
inline constexpr std::string_view kTemporary = ".new-";

/// "no permission", "the disk is full", ...
std::string reason(int error);

}  // namespace gpucheck::disk
