// Opens and drains log sources; see read.h. Nothing here waits for a writer except a pipe that the operator
// named.
#include "agent/host/kernel_log/read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <vector>

#include "agent/host/confined.h"
#include "agent/unpack/inflate.h"

namespace gpucheck::host {
namespace {

constexpr std::size_t kBlock = std::size_t{256} * 1024;
// LOG_LINE_MAX and CONSOLE_EXT_LOG_MAX of the kernel: a record never is longer than 8 KiB.
constexpr std::size_t kKmsgRecord = 8192;
constexpr std::uint64_t kMostRecords = 4000000;
// The quick profile has two seconds for everything; a full 16 MiB ring buffer takes a fraction of one.
constexpr std::chrono::milliseconds kKmsgBudget{1000};

/// Reads until `size` bytes or the end; -1 with errno on failure. `again` tells that a device had no more for
/// now.
ssize_t fill(int fd, char* buffer, std::size_t size, bool& again) {
    std::size_t got = 0;
    while (got < size) {
        const ssize_t part = ::read(fd, buffer + got, size - got);
        if (part > 0) {
            got += static_cast<std::size_t>(part);
            continue;
        }
        if (part == 0) break;
        if (errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            again = true;
            break;
        }
        return got > 0 ? static_cast<ssize_t>(got) : -1;
    }
    return static_cast<ssize_t>(got);
}

LogSummary drain(int fd, const ScanOptions& options) {
    LogScanner scanner(options);
    std::vector<char> buffer(kBlock);
    std::unique_ptr<unpack::Inflate> packed;
    const auto sink = [&scanner](std::string_view text) {
        scanner.feed(text);
        return true;
    };
    bool first = true, again = false;
    for (;;) {
        const ssize_t got = fill(fd, buffer.data(), buffer.size(), again);
        if (got < 0) return scanner.finish("read error " + errno_name(errno));
        if (got == 0) break;
        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
        if (first) {
            first = false;
            const unpack::Packing packing = unpack::packing_of(bytes);
            packed = unpack::make_inflate(packing);
            if (packed == nullptr && packing != unpack::Packing::none)
                return scanner.finish(
                    "compressed data that this build cannot read: decompress it first (zcat, xzcat or "
                    "zstdcat FILE | gpucheck log -)");
        }
        if (packed == nullptr) {
            scanner.feed(bytes);
        } else if (const auto error = packed->feed(bytes, sink)) {
            return scanner.finish(*error);
        }
        if (again) break;
    }
    if (packed != nullptr) {
        if (const auto error = packed->finish(sink)) return scanner.finish(*error);
    }
    return scanner.finish();
}

Fact<LogSummary> read_kmsg() {
    LogScanner scanner;
    std::uint64_t lost = 0;
    bool stopped_early = false;
    const std::optional<std::string> error = each_kmsg_record(
        "/dev/kmsg", [&](std::string_view record) { scanner.feed(record); }, lost, stopped_early);
    if (error) return Missing{"/dev/kmsg", *error};
    scanner.lose(lost);
    return Fact<LogSummary>(
        scanner.finish(stopped_early ? "the ring buffer kept filling while it was read" : ""), "/dev/kmsg");
}

}  // namespace

std::optional<std::string> each_kmsg_record(const char* device,
                                            const std::function<void(std::string_view)>& record,
                                            std::uint64_t& lost, bool& stopped_early) {
    lost = 0;
    stopped_early = false;
    const Descriptor file(::open(device, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!file.valid()) return errno_name(errno);
    std::vector<char> buffer(kKmsgRecord + 1);
    const auto deadline = std::chrono::steady_clock::now() + kKmsgBudget;
    std::uint64_t expected = 0;
    bool any = false;
    unsigned refused = 0;
    for (std::uint64_t n = 0;; ++n) {
        if (n >= kMostRecords || (n % 1024 == 1023 && std::chrono::steady_clock::now() > deadline)) {
            stopped_early = true;
            return std::nullopt;
        }
        const ssize_t got = ::read(file.get(), buffer.data(), kKmsgRecord);
        if (got == 0) return std::nullopt;
        if (got < 0) {
            if (errno == EINTR || errno == EPIPE)
                continue;  // EPIPE: overwritten meanwhile; the next read goes on behind it
            if (errno == EAGAIN) return std::nullopt;
            if (errno == EINVAL && ++refused < 1000)
                continue;  // a record that does not fit is skipped by the kernel
            if (any) {
                stopped_early = true;
                return std::nullopt;
            }
            return errno_name(errno);
        }
        const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
        // "prio,sequence,...": a gap, or a start above 0, are records we never see.
        const std::size_t comma = text.find(',');
        std::uint64_t sequence = 0;
        if (comma != std::string_view::npos &&
            std::from_chars(text.data() + comma + 1, text.data() + text.size(), sequence).ec == std::errc{}) {
            if (sequence > expected) lost += sequence - expected;
            expected = sequence + 1;
        }
        any = true;
        record(text);
    }
}

Fact<LogSummary> read_log_file(const std::string& path, const ScanOptions& options) {
    if (path == "-") return Fact<LogSummary>(drain(STDIN_FILENO, options), "standard input");
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file.valid()) return Missing{path, errno_name(errno)};
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return Missing{path, errno_name(errno)};
    if (S_ISDIR(status.st_mode)) return Missing{path, "EISDIR"};
    if (S_ISCHR(status.st_mode) && path == "/dev/kmsg") {
        LogScanner scanner(options);
        std::uint64_t lost = 0;
        bool stopped_early = false;
        if (auto error = each_kmsg_record(
                path.c_str(), [&](std::string_view r) { scanner.feed(r); }, lost, stopped_early)) {
            return Missing{path, *error};
        }
        scanner.lose(lost);
        return Fact<LogSummary>(
            scanner.finish(stopped_early ? "the ring buffer kept filling while it was read" : ""), path);
    }
    if (S_ISFIFO(status.st_mode)) {
        // A pipe the operator named: its writer may be slower than we are, and "nothing yet" is not the end.
        const int flags = ::fcntl(file.get(), F_GETFL);
        if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK) != 0)
            return Missing{path, errno_name(errno)};
    }
    return Fact<LogSummary>(drain(file.get(), options), path);
}

Fact<LogSummary> read_kernel_log(const Sysroot& root, const std::string& override_path) {
    if (!override_path.empty()) return read_log_file(override_path, {});
    if (root.is_live()) return read_kmsg();
    const std::string path = root.folder() + "/kernel.log";
    struct stat status {};
    // A recording is a folder of plain files: a link could lead to the live machine, a pipe would be waited
    // for.
    if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        return Missing{"kernel.log", "not a regular file"};
    Fact<LogSummary> log = read_log_file(path, {});
    if (log.absent()) return Missing{"kernel.log", "not captured"};
    if (!log.known()) return Missing{"kernel.log", log.why()};
    return Fact<LogSummary>(log.value(), "kernel.log");
}

}  // namespace gpucheck::host
