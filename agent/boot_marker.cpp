// The keeper of the marker and its two ends; see boot_marker.h.
#include "agent/boot_marker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "agent/child/board.h"
#include "agent/host/sysroot.h"
#include "checks/json/json.h"
#include "checks/model/bdf.h"

namespace gpucheck::boot {
namespace {

constexpr std::size_t kRecordBytes = 1024;  // in one block of any disk: written whole or not at all
constexpr std::size_t kMaxText = 300;
constexpr unsigned kMaxEarlier = 1'000'000;
constexpr int kAnswerMs = 2000, kStageMs = 500;
constexpr char kHeld = 'h', kLeft = 'l';
constexpr std::string_view kEnd = "end";

std::string text_of(const Json& record, const char* name) {
    const auto found = record.find(name);
    if (found == record.end() || !found->is_string()) return {};
    std::string text = found->get<std::string>();
    const bool plain = text.size() <= kMaxText && host::is_text(text) && text.find('\n') == std::string::npos;
    return plain ? text : std::string();
}

std::string cut(std::string_view text) {
    return std::string(text.substr(0, kMaxText));
}

bool put(int fd, std::string_view record) {
    return ::pwrite(fd, record.data(), record.size(), 0) == static_cast<ssize_t>(record.size()) &&
           ::fdatasync(fd) == 0;
}

void sync_folder(const std::string& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    ::fsync(fd);
    ::close(fd);
}

bool lock(int fd) {
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    return ::fcntl(fd, F_SETLK, &whole) == 0;
}

/// The file behind the descriptor is still the one of that name: the run before may have removed it between
/// our open and our lock.
bool still_there(int fd, const std::string& path) {
    struct stat open {
    }, named{};
    return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
           open.st_dev == named.st_dev;
}

/// -1: there is no marker to be had. `fresh`: nothing was there before.
int open_locked(const std::string& path, bool& fresh) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        fresh = false;
        int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            fresh = true;
            fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        }
        if (fd < 0) {
            if (errno == EEXIST) continue;
            return -1;
        }
        struct stat status {};
        const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
        if (regular && lock(fd) && still_there(fd, path)) return fd;
        const bool gone = regular && !still_there(fd, path);
        ::close(fd);
        if (!gone) return -1;
    }
    return -1;
}

std::string content_of(int fd) {
    std::string content(kRecordBytes * 4, '\0');
    const ssize_t got = ::pread(fd, content.data(), content.size(), 0);
    content.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return content;
}

/// The keeper: answers with what was left, then writes each record and says so.
void keep(int socket, const std::string& folder, const std::string& path, MarkerRecord record) {
    bool fresh = false;
    const int fd = open_locked(path, fresh);
    if (fd < 0) return;
    const std::string left = fresh ? std::string() : content_of(fd);
    if (!fresh) {
        const std::optional<MarkerRecord> before = parse_marker(left);
        record.earlier = before ? before->earlier + 1 : 1;
    }
    if (::ftruncate(fd, 0) != 0 || !put(fd, render_marker(record))) return;
    if (fresh) sync_folder(folder);
    const std::string answer = std::string(1, fresh ? kHeld : kLeft) + left;
    if (::send(socket, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    std::array<char, kRecordBytes> message{};
    for (;;) {
        const ssize_t got = ::recv(socket, message.data(), message.size(), 0);
        if (got <= 0) return;
        const std::string_view text(message.data(), static_cast<std::size_t>(got));
        if (text == kEnd) {
            ::prctl(PR_SET_PDEATHSIG, 0);  // a slow disk may take longer than the run waits
            ::unlink(path.c_str());
            sync_folder(folder);
            return;
        }
        MarkerRecord next = parse_marker(text).value_or(record);
        next.earlier = record.earlier;
        if (put(fd, render_marker(next))) ::send(socket, &kHeld, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

void become_keeper(pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a run that died must not seem to live on
    if (::getppid() != parent) ::_exit(0);
    // Whoever reads this run's output waits for its last writer.
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && nothing >= 0; ++fd) ::dup2(nothing, fd);
}

}  // namespace

std::string render_marker(const MarkerRecord& record) {
    const Json json{{"boot_id", cut(record.boot_id)}, {"started", cut(record.started)},
                    {"profile", cut(record.profile)}, {"stage", cut(record.stage)},
                    {"device", cut(record.device)},   {"earlier", record.earlier}};
    std::string text = dump_json(json, -1);
    text.resize(kRecordBytes - 1, ' ');
    return text + "\n";
}

std::optional<MarkerRecord> parse_marker(std::string_view content) {
    const std::size_t end = content.find_last_not_of(std::string_view(" \n\0", 3));
    if (end == std::string_view::npos) return std::nullopt;
    const auto parsed = parse_json(content.substr(0, end + 1), 4);
    const Json* json = std::get_if<Json>(&parsed);
    if (json == nullptr || !json->is_object()) return std::nullopt;
    MarkerRecord record{text_of(*json, "boot_id"), text_of(*json, "started"), text_of(*json, "profile"),
                        text_of(*json, "stage"),   text_of(*json, "device"),  0};
    const auto earlier = json->find("earlier");
    if (earlier != json->end() && earlier->is_number_unsigned() &&
        earlier->get<std::uint64_t>() < kMaxEarlier)
        record.earlier = earlier->get<unsigned>();
    return record;
}

Finding interruption(std::string_view content, const std::string& boot_id, const std::string& path) {
    const std::optional<MarkerRecord> record = parse_marker(content);
    std::string observed;
    Subject subject;
    if (!record || record->stage.empty()) {
        observed = "it did not, and its record does not say where";
    } else {
        observed = "it died at: " + record->stage;
        if (!record->device.empty()) observed += ", on " + record->device;
        if (!record->started.empty()) observed += "; begun " + record->started;
        if (Bdf::parse(record->device)) subject = Subject(record->device);
    }
    if (record && !record->boot_id.empty())
        observed += record->boot_id == boot_id ? ", in this boot" : ", in an earlier boot";
    if (record && record->earlier > 0)
        observed += "; " + std::to_string(record->earlier) + " before it did not end either";
    return finding("boot.interrupted", Verdict::warn, std::move(subject), "the run before ended", observed,
                   path);
}

RunMarker::RunMarker(RunMarker&& other) noexcept {
    *this = std::move(other);
}

RunMarker& RunMarker::operator=(RunMarker&& other) noexcept {
    socket_ = std::exchange(other.socket_, -1);
    keeper_ = std::exchange(other.keeper_, -1);
    path_ = std::move(other.path_);
    left_ = std::move(other.left_);
    record_ = std::move(other.record_);
    return *this;
}

RunMarker RunMarker::begin(const std::string& folder, const MarkerRecord& record) {
    RunMarker marker;
    marker.path_ = folder + "/running.json";
    marker.record_ = record;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return marker;
    const pid_t parent = ::getpid();
    const pid_t keeper = ::fork();
    if (keeper == 0) {
        ::close(ends[0]);
        become_keeper(parent);
        keep(ends[1], folder, marker.path_, record);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::array<char, kRecordBytes * 4 + 1> answer{};
    pollfd wait_for{ends[0], POLLIN, 0};
    const bool answered = keeper > 0 && ::poll(&wait_for, 1, kAnswerMs) > 0;
    const ssize_t got = answered ? ::recv(ends[0], answer.data(), answer.size(), MSG_DONTWAIT) : 0;
    if (got < 1) {
        ::close(ends[0]);
        if (keeper > 0) {
            ::kill(keeper, SIGKILL);
            child::reaped_within(keeper, std::chrono::milliseconds(20));
        }
        return marker;
    }
    if (answer[0] == kLeft) marker.left_ = std::string(answer.data() + 1, static_cast<std::size_t>(got - 1));
    marker.socket_ = ends[0];
    marker.keeper_ = keeper;
    return marker;
}

void RunMarker::send(std::string_view text, int wait_ms) const {
    std::array<char, 16> old{};
    while (::recv(socket_, old.data(), old.size(), MSG_DONTWAIT) > 0) {
    }  // answers to what nobody waited for
    if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
    pollfd wait_for{socket_, POLLIN, 0};
    ::poll(&wait_for, 1, wait_ms);
}

void RunMarker::stage(std::string_view stage, std::string_view device) {
    if (!held() || (record_.stage == cut(stage) && record_.device == cut(device))) return;
    record_.stage = cut(stage);
    record_.device = cut(device);
    send(render_marker(record_), kStageMs);
}

void RunMarker::end() {
    if (!held()) return;
    send(kEnd, kAnswerMs);  // the keeper ends: its end of the socket closes
    ::close(std::exchange(socket_, -1));
    child::reaped_within(keeper_, std::chrono::milliseconds(kAnswerMs));
}

}  // namespace gpucheck::boot
