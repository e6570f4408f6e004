// Names and files of databases; see database.h.
#include "fleet/collect/database.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fleet/collect/sql.h"

namespace gpucheck::fleet::collect {
namespace {

constexpr const char* kNoPassword =
    "a password in --db is seen by every user of this machine: give it by --db-password-file, PGPASSFILE or "
    "~/.pgpass";
constexpr std::string_view kBlank = " \t\n\r\f\v";
constexpr std::array<const char*, 3> kFiles = {"", "-wal", "-shm"};  // https://sqlite.org/walformat.html

int digit(char c) {
    const auto lower = static_cast<char>(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// As libpq decodes: once, and nothing where a digit is missing.
std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
        plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
        i += 2;
    }
    return plain;
}

// "password = x", also "sslpassword=": whatever ends in a word for a secret and is given a value.
bool gives_secret(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    for (const std::string_view word : {"password", "passwd", "secret"}) {
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
            const auto next = text.find_first_not_of(kBlank, at + word.size());
            if (next != std::string::npos && text[next] == '=') return true;
        }
    }
    return false;
}

// "host", "host:5432", "[::1]:5432", several with commas between. Behind a colon stands a number, or a
// password whose "@" was forgotten or lies behind a "/".
bool are_hosts(std::string_view hosts) {
    while (!hosts.empty()) {
        std::string_view host = hosts.substr(0, hosts.find(','));
        hosts.remove_prefix(std::min(hosts.size(), host.size() + 1));
        if (host.starts_with('[')) {
            const std::size_t end = host.find(']');
            if (end == std::string_view::npos) return false;
            host.remove_prefix(end + 1);
            if (!host.empty() && host.front() != ':') return false;
        }
        const std::size_t colon = host.find(':');
        if (colon != std::string_view::npos &&
            host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
            return false;
    }
    return true;
}

std::optional<std::string> fault_of_url(std::string_view url) {
    const auto whole = percent_decoded(url);
    if (!whole) return std::string("a % in --db that is followed by no two hexadecimal digits");
    if (gives_secret(*whole)) return std::string(kNoPassword);
    std::string_view rest = url.substr(url.find("://") + 3);
    // libpq looks for the "@" up to the first "/", whatever stands before it.
    const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
    if (at != std::string_view::npos) {
        const auto user = percent_decoded(rest.substr(0, at));
        if (!user || user->find(':') != std::string::npos) return std::string(kNoPassword);
        rest.remove_prefix(at + 1);
    }
    const std::size_t behind = std::min(rest.find_first_of("/?"), rest.size());
    const std::string_view path = rest.substr(behind, rest.find('?', behind) - behind);
    if (!are_hosts(rest.substr(0, behind)) || path.find('@') != std::string_view::npos)
        return "--db is no postgresql://USER@HOST:PORT/DATABASE (" + std::string(kNoPassword) + ")";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_of_database_name(const std::string& database) {
    if (database.empty()) return std::string("--db names no database");
    if (is_postgres(database)) return fault_of_url(database);
    if (gives_secret(database) || gives_secret(percent_decoded(database).value_or(std::string())))
        return std::string(kNoPassword);
    if (database.find("://") != std::string::npos)
        return std::string("the database is a file or postgresql://...");
    const bool is_path =
        database.starts_with('/') || database.starts_with("./") || database.starts_with("../");
    if (!is_path && database.find('=') != std::string::npos)
        return std::string(
            "--db looks like a connection string: write postgresql://USER@HOST/DATABASE, or ./NAME for a "
            "file with an \"=\" in its name");
    return std::nullopt;
}

std::variant<std::vector<std::string>, std::string> close_to_others(const std::string& file) {
    constexpr mode_t kOthers = 077;
    std::vector<std::string> closed;
    for (const char* each : kFiles) {
        const std::string name = file + each;
        struct stat status {};
        if (::stat(name.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;  // opening it tells
        if ((status.st_mode & kOthers) == 0) continue;
        if (::chmod(name.c_str(), 0600) != 0)
            return name + ": others may read it, and its mode cannot be changed: " + std::strerror(errno);
        closed.push_back(name);
    }
    return closed;
}

FileIdentity::Place FileIdentity::place_of(const std::string& name) {
    struct stat status {};
    if (::stat(name.c_str(), &status) != 0) return {};
    return {std::uint64_t{status.st_dev}, std::uint64_t{status.st_ino}, true};
}

void FileIdentity::take() {
    for (std::size_t i = 0; i < kFiles.size(); ++i) places_[i] = place_of(file_ + kFiles[i]);
}

std::optional<std::string> FileIdentity::changed() const {
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
        const std::string name = file_ + kFiles[i];
        if (const Place now = place_of(name); now != places_[i])
            return name + " was " + (now.there ? "replaced" : "removed") +
                   " while it was in use: restart the receiver";
    }
    return std::nullopt;
}

}  // namespace gpucheck::fleet::collect
