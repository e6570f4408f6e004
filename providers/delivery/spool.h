// Reports that wait for their receivers, on disk: each is there, synced, before the network is tried, and
// goes when a receiver has it. Several processes may use a spool at once, and each may die at any moment.
//
//     SPOOL/pending/     one file for each report and receiver (entry.h)
//     SPOOL/rejected/    the same, refused for good by the receiver
//     SPOOL/damaged/     files that are no entry any more
//     SPOOL/receivers/   when a receiver that was down may be tried again
//     SPOOL/dropped.json how many had to go because the spool was full
//
// Who works on an entry holds flock(2) on its file: a dead process holds none. A file that was locked late
// may already have gone or have another name: the name is compared with the open file after each lock.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "providers/delivery/entry.h"
#include "providers/disk/files.h"

namespace gpucheck::delivery {

struct Bounds {
    std::uint64_t most_bytes = std::uint64_t{256} << 20U;
    std::uint64_t most_reports = 20000;
    std::int64_t most_days = 30;
    bool operator==(const Bounds&) const = default;
};

/// Reports that were dropped undelivered, by verdict (not_applicable, pass, warn, unknown, fail).
using Dropped = std::array<std::uint64_t, 5>;

enum class Shelf : std::uint8_t { pending, rejected };

/// An entry that nobody else works on while this object lives.
struct Claim {
    disk::Descriptor file;
    Shelf shelf = Shelf::pending;
    EntryName name;
};

/// A receiver that is not to be asked before `next_try_s`.
struct Hold {
    unsigned attempts = 0;
    std::int64_t next_try_s = 0;
    std::string last;
};

class Spool {
  public:
    /// Makes the folders with mode 0700.
    static std::variant<Spool, disk::Error> open(const std::string& folder, const Bounds& bounds);
    /// nullopt in the variant: nothing was ever kept there. Changes nothing.
    static std::variant<std::optional<Spool>, disk::Error> existing(const std::string& folder,
                                                                    const Bounds& bounds);

    /// On disk when this returns nullopt. An entry of the same report and receiver that is there already
    /// stays.
    std::optional<disk::Error> add(const Entry& entry, Verdict verdict);
    /// Oldest first.
    std::vector<EntryName> list(Shelf shelf) const;
    std::vector<std::string> damaged() const;
    Dropped dropped() const;

    /// nullopt: it has gone, or somebody else works on it.
    std::optional<Claim> claim(Shelf shelf, const EntryName& name) const;
    /// The entry's content; a damaged one is set aside, and the error says why.
    std::variant<Entry, std::string> read(const Claim& claim);
    void delivered(const Claim& claim);
    /// Under another name (and on another shelf).
    void move(Claim& claim, Shelf shelf, const EntryName& name);

    Hold hold_of(const std::string& sink) const;
    void hold(const std::string& sink, const Hold& hold);
    void release(const std::string& sink);

    /// Drops what exceeds the bounds: too old ones, then passes, oldest first, then warnings, unknowns and
    /// fails. Each is counted before it goes. Returns how many went. By a clock that may be wrong nothing is
    /// too old: a machine that boots in 2038 must not lose what it has to tell.
    std::size_t enforce(std::int64_t now_s, bool clock_is_right);
    /// What was delivered stays gone after a power cut.
    void sync();
    const std::string& folder() const { return folder_; }

  private:
    struct Kept;
    Spool(std::string folder, const Bounds& bounds) : folder_(std::move(folder)), bounds_(bounds) {}
    std::optional<disk::Error> open_folders();
    int shelf_fd(Shelf shelf) const;
    void set_aside(const Claim& claim);
    bool drop(const Kept& kept);
    bool count_dropped(const EntryName& name);
    std::vector<Kept> everything() const;
    void sweep(int folder, std::int64_t now_s) const;

    std::string folder_;
    Bounds bounds_;
    disk::Descriptor root_, pending_, rejected_, damaged_, receivers_;
};

}  // namespace gpucheck::delivery
