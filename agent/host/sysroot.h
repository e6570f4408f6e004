// The one door to a machine's files: a root descriptor behind which lies the live machine or a recorded one.
// Every read is bounded, never follows a link out of the root, and tells why it failed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/model/device.h"
#include "checks/model/fact.h"

namespace gpucheck::host {

inline constexpr std::size_t kSmallFile = std::size_t{64} * 1024;
inline constexpr std::size_t kLargeFile = std::size_t{4} * 1024 * 1024;

/// "why" of what nobody asked the machine for.
inline constexpr std::string_view kNotCaptured = "not captured";

/// One entry of nodes.json: what git cannot hold.
struct RecordedNode {
    NodeStat stat;
    std::string open;  ///< "ok", an errno name, kNotCaptured, or "" (then mode and ids decide); folders: what
                       ///< looking below gives
    std::string read;  ///< files: errno name of read(2); folders: of listing; or kNotCaptured, or ""
    std::optional<std::uint64_t> size;  ///< files whose content is not recorded
};

/// What process.json says about the process to judge for; on a live machine, this process.
struct RecordedProcess {
    Fact<unsigned> uid;
    Fact<std::vector<unsigned>> gids;
    std::map<std::string, std::string> env;
    Fact<std::string> now;  ///< RFC 3339 UTC
    Fact<double> uptime_s;
    Fact<bool>
        clock_synchronized;  ///< the kernel's clock discipline: adjtimex(2) live, process.json recorded
    struct Space {
        std::uint64_t total_bytes = 0, free_bytes = 0;
    };
    std::map<std::string, Space>
        filesystems;  ///< "filesystems" of process.json, by path: what statvfs(2) said
};

/// What an access was, for capture.
enum class AccessKind : std::uint8_t { read, list, link, stat, open };
struct Access {
    AccessKind kind;
    std::string path;
};

/// File access below one root. Paths are absolute as on the machine ("/sys/bus/pci/devices"). Not
/// thread-safe.
class Sysroot {
  public:
    /// The live machine ("/"), judged for this process.
    static Sysroot live();
    /// A recorded machine's folder (the one that holds sysroot/). Error text when the folder, nodes.json,
    /// process.json or captured.txt are unusable.
    static std::variant<Sysroot, std::string> recorded(const std::string& folder);

    Sysroot(Sysroot&&) noexcept;
    Sysroot& operator=(Sysroot&&) noexcept;
    ~Sysroot();

    bool is_live() const;
    /// The recorded machine's folder; empty when live.
    const std::string& folder() const;

    /// Whole content, at most `limit` bytes; a longer file is Missing "larger than N bytes", anything that is
    /// not a regular file is Missing "not a regular file". Never blocks on a FIFO or a device. A file that
    /// reading resets (ras/*_err_count) is read once; later calls give the same answer.
    Fact<std::string> read(std::string_view path, std::size_t limit = kSmallFile) const;
    /// Like read, but at most the first `size` bytes, and the rest is neither read nor an error: every byte
    /// of PCI config space costs bus time.
    Fact<std::string> read_prefix(std::string_view path, std::size_t size) const;
    /// The first line without trailing blanks; Missing "empty" or "malformed: not text" (NUL, control bytes,
    /// bad UTF-8).
    Fact<std::string> read_line(std::string_view path) const;
    /// One number in base 10, or 16 when it starts with 0x; Missing "malformed: '...'".
    Fact<std::uint64_t> read_u64(std::string_view path) const;
    Fact<int> read_int(std::string_view path) const;
    /// A 4-digit hexadecimal id such as vendor or device ("0x10de").
    Fact<std::uint16_t> read_hex16(std::string_view path) const;

    /// Names in a folder, sorted, without "." and "..". At most 65,536 entries.
    Fact<std::vector<std::string>> list(std::string_view path) const;
    /// readlink(2).
    Fact<std::string> link_target(std::string_view path) const;
    /// Last component of readlink(2): the driver, the iommu group.
    Fact<std::string> link_name(std::string_view path) const;
    /// `path` with every link resolved, as an absolute path inside the root; Missing ENOENT, ELOOP, EXDEV
    /// (leaves the root).
    Fact<std::string> real_path(std::string_view path) const;
    /// True or false for present or ENOENT/ENOTDIR; Missing when neither can be told (EACCES, not captured).
    Fact<bool> exists(std::string_view path) const;
    /// stat(2), links followed; nodes.json wins.
    Fact<NodeStat> stat(std::string_view path) const;
    /// st_size of a regular file, links followed; Missing "not a regular file" for anything else.
    Fact<std::uint64_t> file_size(std::string_view path) const;
    /// open(2) as the judged process would get it: O_RDWR for device nodes, O_RDONLY for files, closed at
    /// once. "ok" or an errno name.
    Fact<std::string> try_open(std::string_view path) const;
    /// Bytes of the filesystem that holds `path`: statvfs(2) live, process.json recorded.
    Fact<RecordedProcess::Space> filesystem(std::string_view path) const;

    const RecordedProcess& process() const;

    /// Called before every access with the path that is asked for (capture, supervision). Empty to stop.
    void on_access(std::function<void(const Access&)> observer);
    /// Answers Missing "did not return" for these paths and everything below them, without touching them: an
    /// earlier try hung there.
    void refuse(std::vector<std::string> prefixes);
    /// Tells the observer of an access made on this machine's behalf elsewhere: device nodes are opened in
    /// children.
    void report_access(AccessKind kind, std::string_view path) const;

  private:
    struct Impl;
    explicit Sysroot(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// "ENOENT" for ENOENT; "errno 133" for one without a name here.
std::string errno_name(int error);
/// The number of an errno name; 0 when it is none.
int errno_number(std::string_view name);

/// Strips trailing newline and blanks.
std::string_view trim(std::string_view text);
/// Valid UTF-8 without control bytes other than tab and newline.
bool is_text(std::string_view bytes);
/// Splits at newlines; the final empty piece is dropped.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace gpucheck::host
