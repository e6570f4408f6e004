// Documents out; see output.h.
#include "fleet/cli/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "agent/report/escape.h"
#include "agent/report/exit_status.h"
#include "providers/disk/files.h"

namespace gpucheck::fleet {
namespace {

// 0 or errno.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// Writes until something fails; 0 or errno.
int pour(int fd, const std::function<void(const Sink&)>& write) {
    int error = 0;
    write([&](std::string_view text) {
        if (error == 0) error = write_all(fd, text);
        return error == 0;
    });
    return error;
}

int failed(const std::string& path, int error) {
    complain(path + ": " + disk::reason(error));
    return kSoftware;
}

// Into what is there and no regular file: /dev/null, a pipe.
int into_device(const std::string& path, const std::function<void(const Sink&)>& write) {
    const disk::Descriptor open(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!open) return failed(path, errno);
    const int error = pour(open.get(), write);
    return error == 0 || error == EPIPE ? 0 : failed(path, error);
}

}  // namespace

void complain(std::string_view sentence) {
    const std::string line = "gpucheck-fleet: " + report::plain(sentence, report::kPageBytes) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

bool colours() {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
           (term == nullptr || std::strcmp(term, "dumb") != 0);
}

int deliver(const std::string& path, const std::function<void(const Sink&)>& write) {
    if (path.empty() || path == "-") {
        const int error = pour(STDOUT_FILENO, write);
        return error == 0 || error == EPIPE ? 0 : failed("standard output", error);  // EPIPE: has seen enough
    }
    std::error_code unknown;
    const std::filesystem::path target = std::filesystem::weakly_canonical(path, unknown);
    const std::string real = unknown ? path : target.string();
    struct stat status {};
    const bool there = ::stat(real.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return failed(path, EISDIR);
    if (there && !S_ISREG(status.st_mode)) return into_device(real, write);
    std::string temporary = real + ".new-XXXXXX";
    const disk::Descriptor open(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!open) return failed(path, errno);
    int error = pour(open.get(), write);
    constexpr mode_t kMode = 0644;
    if (error == 0 && ::fchmod(open.get(), there ? status.st_mode & 07777U : kMode) != 0) error = errno;
    if (error == 0 && ::fsync(open.get()) != 0) error = errno;
    if (error == 0 && ::rename(temporary.c_str(), real.c_str()) != 0) error = errno;
    if (error == 0) return 0;
    ::unlink(temporary.c_str());
    return failed(path, error);
}

}  // namespace gpucheck::fleet
