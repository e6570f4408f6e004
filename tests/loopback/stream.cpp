// One connection; see stream.h.
#include "tests/loopback/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace gpucheck::loopback {

Stream::Stream(int descriptor, SSL_CTX* context) : descriptor_(descriptor) {
    const int on = 1;
    ::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (context == nullptr) return;
    ssl_ = SSL_new(context);
    open_ = ssl_ != nullptr && SSL_set_fd(ssl_, descriptor_) == 1 && SSL_accept(ssl_) == 1;
}

Stream::~Stream() {
    if (ssl_ != nullptr) {
        if (open_) SSL_shutdown(ssl_);
        SSL_free(ssl_);
    }
    ::close(descriptor_);
}

bool Stream::write(std::string_view bytes) {
    while (open_ && !bytes.empty()) {
        const ssize_t sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                             : ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) {
            open_ = false;
        } else {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    return open_;
}

bool Stream::read(std::string& into) {
    std::array<char, 16384> bytes{};
    if (!open_) return false;
    const ssize_t got = ssl_ != nullptr ? SSL_read(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                        : ::recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (got <= 0) {
        open_ = false;
        return false;
    }
    into.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
}

void Stream::reset() {
    const linger now{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    open_ = false;
}

}  // namespace gpucheck::loopback
