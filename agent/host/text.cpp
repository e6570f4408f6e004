// Small text rules shared by all readers: what counts as text or a number, where a line ends, how an errno is
// called.
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "agent/host/sysroot.h"
#include "checks/json/utf8.h"

namespace gpucheck::host {
namespace {

struct ErrnoRow {
    int number;
    std::string_view name;
};
constexpr std::array kErrnos{
    ErrnoRow{EPERM, "EPERM"},         ErrnoRow{ENOENT, "ENOENT"},
    ErrnoRow{EINTR, "EINTR"},         ErrnoRow{EIO, "EIO"},
    ErrnoRow{ENXIO, "ENXIO"},         ErrnoRow{E2BIG, "E2BIG"},
    ErrnoRow{EBADF, "EBADF"},         ErrnoRow{EAGAIN, "EAGAIN"},
    ErrnoRow{ENOMEM, "ENOMEM"},       ErrnoRow{EACCES, "EACCES"},
    ErrnoRow{EFAULT, "EFAULT"},       ErrnoRow{EBUSY, "EBUSY"},
    ErrnoRow{EEXIST, "EEXIST"},       ErrnoRow{EXDEV, "EXDEV"},
    ErrnoRow{ENODEV, "ENODEV"},       ErrnoRow{ENOTDIR, "ENOTDIR"},
    ErrnoRow{EISDIR, "EISDIR"},       ErrnoRow{EINVAL, "EINVAL"},
    ErrnoRow{ENFILE, "ENFILE"},       ErrnoRow{EMFILE, "EMFILE"},
    ErrnoRow{ENOTTY, "ENOTTY"},       ErrnoRow{ETXTBSY, "ETXTBSY"},
    ErrnoRow{EFBIG, "EFBIG"},         ErrnoRow{ENOSPC, "ENOSPC"},
    ErrnoRow{EROFS, "EROFS"},         ErrnoRow{ELOOP, "ELOOP"},
    ErrnoRow{ENOSYS, "ENOSYS"},       ErrnoRow{ENAMETOOLONG, "ENAMETOOLONG"},
    ErrnoRow{ENODATA, "ENODATA"},     ErrnoRow{ENOTSUP, "ENOTSUP"},
    ErrnoRow{ETIMEDOUT, "ETIMEDOUT"}, ErrnoRow{ESTALE, "ESTALE"},
    ErrnoRow{EOVERFLOW, "EOVERFLOW"}, ErrnoRow{EREMOTEIO, "EREMOTEIO"},
};

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value, base);
    if (result.ec != std::errc{} || result.ptr != end || text.empty()) return std::nullopt;
    return value;
}

Missing malformed(const Fact<std::string>& line) {
    return {line.source(), "malformed: '" + line.value().substr(0, 40) + "'"};
}

}  // namespace

Fact<std::string> Sysroot::read_line(std::string_view path) const {
    Fact<std::string> content = read(path);
    if (!content.known()) return content;
    const std::string_view text = content.value();
    const std::string_view line = trim(text.substr(0, text.find('\n')));
    if (!is_text(line)) return Missing{content.source(), "malformed: not text"};
    if (line.empty()) return Missing{content.source(), "empty"};
    return Fact<std::string>(std::string(line), content.source());
}

Fact<std::uint64_t> Sysroot::read_u64(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    std::string_view text = line.value();
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    if (const auto value = whole_number<std::uint64_t>(text, hex ? 16 : 10)) {
        return Fact<std::uint64_t>(*value, line.source());
    }
    return malformed(line);
}

Fact<int> Sysroot::read_int(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    if (const auto value = whole_number<int>(line.value(), 10)) return Fact<int>(*value, line.source());
    return malformed(line);
}

Fact<std::uint16_t> Sysroot::read_hex16(std::string_view path) const {
    const Fact<std::string> line = read_line(path);
    if (!line.known()) return line.missing();
    std::string_view text = line.value();
    if (text.starts_with("0x")) text.remove_prefix(2);
    const auto value = text.size() <= 4 ? whole_number<std::uint16_t>(text, 16) : std::nullopt;
    if (!value) return malformed(line);
    return Fact<std::uint16_t>(*value, line.source());
}

std::string errno_name(int error) {
    for (const ErrnoRow& row : kErrnos) {
        if (row.number == error) return std::string(row.name);
    }
    return "errno " + std::to_string(error);
}

int errno_number(std::string_view name) {
    for (const ErrnoRow& row : kErrnos) {
        if (row.name == name) return row.number;
    }
    return 0;
}

std::string_view trim(std::string_view text) {
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 1);
}

bool is_text(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') return false;
        if (byte == 0x7f) return false;
        const std::size_t length = utf8_length(bytes, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

}  // namespace gpucheck::host
