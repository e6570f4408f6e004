// What goes when the spool is full: a receiver that was down for a month must not fill the machine's disk,
// and what it costs is counted.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "checks/json/json.h"
#include "providers/delivery/folder.h"
#include "providers/delivery/spool.h"

namespace gpucheck::delivery {
namespace {

constexpr std::size_t kMostCountBytes = 4096;
constexpr const char* kCountFile = "dropped.json";
constexpr const char* kCountLock = "dropped.lock";
// What a killed process left while it wrote. Nobody writes a report for an hour.
constexpr std::int64_t kTemporaryAge_s = 3600;
// Damaged files are for a person to look at, not for keeping.
constexpr std::size_t kMostDamaged = 100;

constexpr std::array<Verdict, 5> kVerdicts{Verdict::not_applicable, Verdict::pass, Verdict::warn,
                                           Verdict::unknown, Verdict::fail};

// Seconds since 1970 at which a UUIDv7 was made: its first 48 bits are milliseconds.
std::int64_t made_s(const std::string& report_id) {
    std::int64_t ms = 0;
    for (const char c : report_id.substr(0, 8) + report_id.substr(9, 4))
        ms = ms * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    return ms / 1000;
}

struct Count {
    Dropped dropped{};
    std::string last;  // the file that was counted last: it may not have gone yet
};

Count read_count(int root) {
    Count count;
    const disk::Descriptor file(::openat(root, kCountFile, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return count;
    const auto content = disk::read_open(file.get(), kCountFile, kMostCountBytes);
    const auto* text = std::get_if<disk::Content>(&content);
    if (text == nullptr) return count;
    const auto parsed = parse_json(text->text, 4);
    const Json* json = std::get_if<Json>(&parsed);
    if (json == nullptr || !json->is_object()) return count;
    for (const Verdict verdict : kVerdicts) {
        const auto found = json->find(std::string(name_of(verdict)));
        if (found != json->end() && found->is_number_unsigned())
            count.dropped[static_cast<std::size_t>(verdict)] = found->get<std::uint64_t>();
    }
    const auto last = json->find("last");
    if (last != json->end() && last->is_string()) count.last = last->get<std::string>();
    return count;
}

bool write_count(int root, const Count& count) {
    Json json = Json::object();
    for (const Verdict verdict : kVerdicts)
        json[std::string(name_of(verdict))] = count.dropped[static_cast<std::size_t>(verdict)];
    json["last"] = count.last;
    return !disk::write_soon(root, kCountFile, dump_json(json, -1));
}

}  // namespace

struct Spool::Kept {
    Shelf shelf = Shelf::pending;
    EntryName name;
    std::uint64_t bytes = 0;
};

Dropped Spool::dropped() const {
    return read_count(root_.get()).dropped;
}

// Counted under a lock, and before the file goes: a process that dies between both leaves the file, and the
// next one sees that it was counted.
bool Spool::count_dropped(const EntryName& name) {
    const disk::Descriptor lock(
        ::openat(root_.get(), kCountLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return false;
    Count count = read_count(root_.get());
    if (count.last == name.file()) return true;
    ++count.dropped[static_cast<std::size_t>(name.verdict)];
    count.last = name.file();
    return write_count(root_.get(), count);
}

bool Spool::drop(const Kept& kept) {
    const auto held = claim(kept.shelf, kept.name);
    if (!held || !count_dropped(kept.name)) return false;
    ::unlinkat(shelf_fd(kept.shelf), kept.name.file().c_str(), 0);
    return true;
}

std::vector<Spool::Kept> Spool::everything() const {
    std::vector<Kept> all;
    for (const Shelf shelf : {Shelf::rejected, Shelf::pending}) {
        for (EntryName& name : list(shelf)) {
            struct stat status {};
            if (::fstatat(shelf_fd(shelf), name.file().c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
            all.push_back({shelf, std::move(name), static_cast<std::uint64_t>(status.st_size)});
        }
    }
    return all;
}

void Spool::sweep(int folder, std::int64_t now_s) const {
    for (const std::string& file : temporaries_in(folder)) {
        struct stat status {};
        if (::fstatat(folder, file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            status.st_mtime < now_s - kTemporaryAge_s)
            ::unlinkat(folder, file.c_str(), 0);
    }
}

std::size_t Spool::enforce(std::int64_t now_s, bool clock_is_right) {
    sweep(root_.get(), now_s);
    sweep(pending_.get(), now_s);
    sweep(receivers_.get(), now_s);
    const std::vector<std::string> broken = damaged();
    for (std::size_t i = 0; i + kMostDamaged < broken.size(); ++i)
        ::unlinkat(damaged_.get(), broken[i].c_str(), 0);

    std::vector<Kept> all = everything();
    std::uint64_t bytes = 0, reports = all.size();
    for (const Kept& kept : all) bytes += kept.bytes;
    const std::int64_t oldest_s = now_s - bounds_.most_days * 86400;
    const auto too_old = [&](const Kept& kept) {
        return clock_is_right && made_s(kept.name.report_id) < oldest_s;
    };
    std::stable_sort(all.begin(), all.end(), [&](const Kept& a, const Kept& b) {
        if (too_old(a) != too_old(b)) return too_old(a);
        if (a.name.verdict != b.name.verdict) return a.name.verdict < b.name.verdict;
        return a.name.report_id < b.name.report_id;
    });
    std::size_t gone = 0;
    for (const Kept& kept : all) {
        if (!too_old(kept) && bytes <= bounds_.most_bytes && reports <= bounds_.most_reports) break;
        if (!drop(kept)) continue;
        ++gone;
        bytes -= kept.bytes;
        --reports;
    }
    return gone;
}

}  // namespace gpucheck::delivery
