// The native protocol of journald; see boot_journal.h.
#include "agent/boot_journal.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gpucheck::boot {
namespace {

// Upper case, digits and underscores, 64 at most, no digit or underscore first: a leading underscore is the
// journal's own.
bool is_field_name(std::string_view name) {
    const auto allowed = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    return !name.empty() && name.size() <= 64 && name[0] >= 'A' && name[0] <= 'Z' &&
           std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

std::string journal_datagram(const std::vector<JournalField>& fields) {
    std::string datagram;
    for (const auto& [name, value] : fields) {
        if (!is_field_name(name)) continue;
        datagram += name;
        if (value.find('\n') == std::string::npos) {
            datagram += '=';
        } else {
            datagram += '\n';
            for (unsigned byte = 0; byte < 8; ++byte)
                datagram += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> (8 * byte) & 0xff);
        }
        datagram += value;
        datagram += '\n';
    }
    return datagram;
}

int send_to_journal(const std::vector<JournalField>& fields, const char* socket_path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (std::strlen(socket_path) >= sizeof address.sun_path) return ENAMETOOLONG;
    std::strcpy(address.sun_path, socket_path);
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return errno;
    const std::string datagram = journal_datagram(fields);
    const ssize_t sent = ::sendto(fd, datagram.data(), datagram.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                                  reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = sent < 0 ? errno : 0;
    ::close(fd);
    return error;
}

}  // namespace gpucheck::boot
