// Bounded reading of a named file; see cost_file.h.
#include "agent/cost_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gpucheck {

std::variant<std::string, FileError> read_text_file(const std::string& path, std::size_t most_bytes) {
    const bool standard = path == "-";
    const int fd = standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const auto failed = [&](const std::string& why) {
        if (fd >= 0 && !standard) ::close(fd);
        return FileError{path + ": " + why};
    };
    if (fd < 0) return failed(std::strerror(errno));
    struct stat info {};
    if (!standard && ::fstat(fd, &info) != 0) return failed(std::strerror(errno));
    if (!standard && !S_ISREG(info.st_mode)) return failed("not a regular file");
    std::string text, piece(std::size_t{64} * 1024, '\0');
    while (true) {
        const ssize_t got = ::read(fd, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed(std::strerror(errno));
        if (got == 0) break;
        text.append(piece, 0, static_cast<std::size_t>(got));
        if (text.size() > most_bytes)
            return failed("larger than " + std::to_string(most_bytes >> 20) + " MiB");
    }
    if (!standard) ::close(fd);
    return text;
}

}  // namespace gpucheck
