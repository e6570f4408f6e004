// Opens paths below a root directory descriptor without ever leaving it, on any kernel.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace gpucheck::host {

/// An open descriptor that closes itself.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    int get() const { return fd_; }
    bool valid() const { return fd_ >= 0; }
    int release();

  private:
    int fd_ = -1;
};

/// How links are followed below the root.
enum class Confinement {
    live,                     ///< the root is "/": absolute links start there again, ".." stops there
    beneath,                  ///< a recorded root: a link that is absolute or climbs out is EXDEV
    beneath_with_text_links,  ///< the same, and small files that hold a target are links: some checkouts and
                              ///< archives lay links down so
};

/// openat below `root_fd`; `path` is absolute as on the machine. Returns an invalid descriptor and sets
/// `error` to an errno on failure. Uses openat2(2) where the kernel has it and permits it, else walks
/// component by component.
Descriptor open_confined(int root_fd, std::string_view path, int flags, Confinement confinement, int& error);

/// The target of the link at `name` below the open folder `dir`, also of one laid down as a text file when
/// `text_links`. 0, or an errno (EINVAL: no link).
int read_any_link(int dir, const std::string& name, bool text_links, std::string& target);

/// The walk itself: opens `path` and tells its resolved absolute form. With O_PATH | O_NOFOLLOW in `flags`
/// the last component is opened even when it is a link.
Descriptor walk_confined(int root_fd, std::string_view path, int flags, Confinement confinement, int& error,
                         std::string* resolved);

/// open_confined with O_PATH and `flags`, and the resolved absolute form.
Descriptor resolve_confined(int root_fd, std::string_view path, int flags, Confinement confinement,
                            int& error, std::string& resolved);

/// Opens paths below a recorded root. It does not change, and its files are read folder by folder: a few
/// folders are kept open, which saves most of the work of finding them again. (A live /sys changes: a kept
/// folder would hide a new device.)
class RecordedFolders {
  public:
    Descriptor open(int root_fd, std::string_view path, int flags, Confinement confinement, int& error);

  private:
    struct Entry {
        std::string path;
        Descriptor open;    ///< invalid until a second path below it was asked for
        unsigned uses = 0;  ///< after the first
    };
    Entry& entry(std::string_view folder);
    std::array<Entry, 8> entries_;
    std::size_t next_ = 0;
};

}  // namespace gpucheck::host
