// sd_notify; see notify.h.
#include "fleet/collect/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace gpucheck::fleet::collect {

void tell_systemd(std::string_view state) {
    const char* const given = std::getenv("NOTIFY_SOCKET");
    const std::string path = given == nullptr ? "" : given;
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (path.size() < 2 || path.size() >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) return;
    std::memcpy(to.sun_path, path.data(), path.size());
    if (path[0] == '@') to.sun_path[0] = '\0';  // an abstract socket
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    // Nobody to tell it to is no reason not to receive.
    [[maybe_unused]] const auto sent = ::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                                                reinterpret_cast<const sockaddr*>(&to), length);
    ::close(fd);
}

}  // namespace gpucheck::fleet::collect
