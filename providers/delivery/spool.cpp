// The spool on disk; see spool.h.
#include "providers/delivery/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "checks/json/json.h"
#include "providers/delivery/folder.h"

namespace gpucheck::delivery {
namespace {

// A report of 72 GPUs with everything wrong has some megabytes before compression.
constexpr std::size_t kMostEntryBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostHoldBytes = 4096;

}  // namespace

std::variant<Spool, disk::Error> Spool::open(const std::string& folder, const Bounds& bounds) {
    Spool spool(folder, bounds);
    if (auto error = spool.open_folders()) return *std::move(error);
    return spool;
}

std::variant<std::optional<Spool>, disk::Error> Spool::existing(const std::string& folder,
                                                                const Bounds& bounds) {
    struct stat status {};
    if (::stat((folder + "/pending").c_str(), &status) != 0) {
        if (errno == ENOENT) return std::optional<Spool>();
        return disk::Error{errno, folder + ": " + disk::reason(errno)};
    }
    auto opened = open(folder, bounds);
    if (auto* error = std::get_if<disk::Error>(&opened)) return std::move(*error);
    return std::optional<Spool>(std::move(*std::get_if<Spool>(&opened)));
}

std::optional<disk::Error> Spool::open_folders() {
    const auto make = [&](const std::string& path, disk::Descriptor& into) -> std::optional<disk::Error> {
        auto made = disk::make_folder(path);
        if (auto* error = std::get_if<disk::Error>(&made)) return std::move(*error);
        into = std::move(*std::get_if<disk::Descriptor>(&made));
        return std::nullopt;
    };
    if (auto error = make(folder_, root_)) return error;
    if (auto error = make(folder_ + "/pending", pending_)) return error;
    if (auto error = make(folder_ + "/rejected", rejected_)) return error;
    if (auto error = make(folder_ + "/damaged", damaged_)) return error;
    return make(folder_ + "/receivers", receivers_);
}

int Spool::shelf_fd(Shelf shelf) const {
    return shelf == Shelf::pending ? pending_.get() : rejected_.get();
}

std::optional<disk::Error> Spool::add(const Entry& entry, Verdict verdict) {
    const EntryName name{entry.report_id, verdict, key_of(entry.sink.url)};
    // What `report send` gives again, or a process that died after its rename: the first one stays.
    const std::string begin = name.report_id + "." + std::string(name_of(verdict)) + "." + name.sink + ".";
    for (const std::string& file : names_in(pending_.get()))
        if (file.compare(0, begin.size(), begin) == 0) return std::nullopt;
    const std::string content = encode(entry);
    if (content.size() > kMostEntryBytes)
        return disk::Error{EFBIG, "a report of more than 64 MiB is not kept"};
    auto error = disk::write_new(pending_.get(), name.file(), content, false);
    if (!error || error->number == EEXIST) return std::nullopt;
    error->what = folder_ + ": " + disk::reason(error->number);
    return error;
}

std::vector<EntryName> Spool::list(Shelf shelf) const {
    std::vector<EntryName> entries;
    for (const std::string& file : names_in(shelf_fd(shelf)))
        if (auto name = EntryName::parse(file)) entries.push_back(*std::move(name));
    return entries;
}

std::vector<std::string> Spool::damaged() const {
    return names_in(damaged_.get());
}

std::optional<Claim> Spool::claim(Shelf shelf, const EntryName& name) const {
    const std::string file = name.file();
    disk::Descriptor opened(
        ::openat(shelf_fd(shelf), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened || ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    struct stat ours {
    }, theirs{};
    const bool same = ::fstat(opened.get(), &ours) == 0 &&
                      ::fstatat(shelf_fd(shelf), file.c_str(), &theirs, AT_SYMLINK_NOFOLLOW) == 0 &&
                      ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
    if (!same) return std::nullopt;
    return Claim{std::move(opened), shelf, name};
}

std::variant<Entry, std::string> Spool::read(const Claim& claim) {
    auto content = disk::read_open(claim.file.get(), claim.name.file(), kMostEntryBytes);
    if (const auto* error = std::get_if<disk::Error>(&content)) {
        if (error->number != 0 && error->number != EFBIG) return error->what;  // the disk's fault: it stays
        set_aside(claim);
        return error->what + "; set aside in " + folder_ + "/damaged";
    }
    auto entry = decode(std::get_if<disk::Content>(&content)->text);
    const auto* decoded = std::get_if<Entry>(&entry);
    std::string why;
    if (decoded == nullptr) {
        why = *std::get_if<std::string>(&entry);
    } else if (decoded->report_id != claim.name.report_id || key_of(decoded->sink.url) != claim.name.sink) {
        why = "its name is another report's";
    }
    if (why.empty()) return entry;
    set_aside(claim);
    return claim.name.report_id + ": " + why + "; set aside in " + folder_ + "/damaged";
}

void Spool::set_aside(const Claim& claim) {
    const std::string file = claim.name.file();
    ::renameat(shelf_fd(claim.shelf), file.c_str(), damaged_.get(), file.c_str());
}

void Spool::delivered(const Claim& claim) {
    ::unlinkat(shelf_fd(claim.shelf), claim.name.file().c_str(), 0);
}

void Spool::move(Claim& claim, Shelf shelf, const EntryName& name) {
    const bool moved = ::renameat(shelf_fd(claim.shelf), claim.name.file().c_str(), shelf_fd(shelf),
                                  name.file().c_str()) == 0;
    if (!moved) return;
    claim.shelf = shelf;
    claim.name = name;
}

Hold Spool::hold_of(const std::string& sink) const {
    const disk::Descriptor file(
        ::openat(receivers_.get(), sink.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return {};
    const auto content = disk::read_open(file.get(), sink, kMostHoldBytes);
    const auto* text = std::get_if<disk::Content>(&content);
    if (text == nullptr) return {};
    const auto parsed = parse_json(text->text, 4);
    const Json* json = std::get_if<Json>(&parsed);
    if (json == nullptr || !json->is_object()) return {};  // lost: the receiver is asked a little too soon
    Hold hold;
    const auto attempts = json->find("attempts"), next = json->find("next_try_s"), last = json->find("last");
    if (attempts != json->end() && attempts->is_number_unsigned())
        hold.attempts = static_cast<unsigned>(std::min<std::uint64_t>(attempts->get<std::uint64_t>(), 1000));
    if (next != json->end() && next->is_number_integer()) hold.next_try_s = next->get<std::int64_t>();
    if (last != json->end() && last->is_string()) hold.last = last->get<std::string>();
    return hold;
}

void Spool::hold(const std::string& sink, const Hold& hold) {
    const Json json{{"attempts", hold.attempts}, {"next_try_s", hold.next_try_s}, {"last", hold.last}};
    static_cast<void>(disk::write_soon(receivers_.get(), sink, dump_json(json, -1)));
}

void Spool::release(const std::string& sink) {
    ::unlinkat(receivers_.get(), sink.c_str(), 0);
}

void Spool::sync() {
    ::fsync(pending_.get());
    ::fsync(rejected_.get());
}

}  // namespace gpucheck::delivery
