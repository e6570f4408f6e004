// Reads and parses one data file within bounds; see data_file.h.
#include "checks/specs/data_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

namespace gpucheck {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kDeepestNesting = 16;

struct FileText {
    std::optional<std::string> text;  ///< nullopt with an empty error: no such file
    std::string error;
};

class OpenFile {
  public:
    explicit OpenFile(const std::string& path)
        : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~OpenFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int fd() const { return fd_; }

  private:
    int fd_;
};

// O_NONBLOCK: opening a FIFO must not wait for a writer.
FileText read_file(const std::string& path) {
    const OpenFile file(path);
    if (file.fd() < 0) {
        if (errno == ENOENT) return {};
        return {std::nullopt, std::strerror(errno)};
    }
    struct stat info {};
    if (::fstat(file.fd(), &info) != 0) return {std::nullopt, std::strerror(errno)};
    if (!S_ISREG(info.st_mode)) return {std::nullopt, "not a regular file"};
    std::string text(kLargestFile + 1, '\0');
    std::size_t length = 0;
    while (length < text.size()) {
        const ssize_t got = ::read(file.fd(), text.data() + length, text.size() - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return {std::nullopt, std::strerror(errno)};
        if (got == 0) break;
        length += static_cast<std::size_t>(got);
    }
    if (length > kLargestFile) return {std::nullopt, "larger than 4 MiB"};
    text.resize(length);
    return {std::move(text), {}};
}

// The name of a member that an object has twice; the parser itself would keep the last one without a word.
std::optional<std::string> duplicate_member(std::string_view text) {
    std::vector<std::set<std::string>> open;
    std::optional<std::string> duplicate;
    const auto watch = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) open.emplace_back();
        if (event == Json::parse_event_t::object_end && !open.empty()) open.pop_back();
        if (event == Json::parse_event_t::key && !open.empty() && !duplicate) {
            const std::string& name = value.get_ref<const std::string&>();
            if (!open.back().insert(name).second) duplicate = name;
        }
        return true;
    };
    const Json parsed = Json::parse(text.begin(), text.end(), watch, false);
    return duplicate;
}

}  // namespace

std::variant<Json, std::string> parse_data(std::string_view text) {
    auto parsed = parse_json(text, kDeepestNesting);
    if (const auto* error = std::get_if<JsonError>(&parsed)) return error->what;
    try {
        if (const auto twice = duplicate_member(text))
            return "member '" + twice->substr(0, 60) + "' appears twice in an object";
    } catch (const std::exception& error) {
        return std::string(error.what());
    }
    return std::move(std::get<Json>(parsed));
}

std::variant<DataFile, std::string> load_data_file(const std::string& folder, const std::string& name,
                                                   std::string_view embedded) {
    if (!folder.empty()) {
        struct stat info {};
        if (::stat(folder.c_str(), &info) != 0) return "--specs " + folder + ": " + std::strerror(errno);
        if (!S_ISDIR(info.st_mode)) return "--specs " + folder + ": not a folder";
        FileText file = read_file(folder + "/" + name);
        if (!file.error.empty()) return folder + "/" + name + ": " + file.error;
        if (file.text) {
            auto parsed = parse_data(*file.text);
            if (auto* error = std::get_if<std::string>(&parsed)) return folder + "/" + name + ": " + *error;
            return DataFile{folder + "/" + name, std::move(std::get<Json>(parsed)), true};
        }
    }
    // Our own file: that it has no member twice is what the tests show.
    auto parsed = parse_json(embedded, kDeepestNesting);
    if (auto* error = std::get_if<JsonError>(&parsed)) return name + ": " + error->what;
    return DataFile{name, std::move(std::get<Json>(parsed)), false};
}

}  // namespace gpucheck
