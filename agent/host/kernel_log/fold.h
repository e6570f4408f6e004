// Folds lines into events: one for a burst, a repeat, a multi-line report, or one incident that prints
// several codes. Bounded: a log of ten million faults costs no more memory than one of ten.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/host/kernel_log/recognise.h"
#include "agent/host/kernel_log/sighting.h"
#include "agent/host/kernel_log/stamp.h"
#include "checks/model/log_event.h"

namespace gpucheck::host {

/// Where a sighting was made.
struct Place {
    Stamp stamp;
    std::uint64_t line = 0;
    std::uint32_t boot = 0;
};

/// Everything seen under one code on one device.
struct Record {
    std::uint16_t row = 0;
    bool hint = false;  ///< only hints so far: means something only inside an incident
    unsigned number = 0;
    std::optional<Bdf> bdf;
    Verdict verdict = Verdict::not_applicable;
    std::optional<Scope> scope;
    std::optional<Action> action;
    std::uint64_t reports = 0, details = 0;
    std::uint16_t detail_pattern = 0;
    Place first, last;
    std::string evidence, device, state;
    std::uint64_t evidence_line = 0;
    std::string note;
    std::vector<std::uint16_t> also;  ///< rows absorbed by this one
    unsigned bursts = 1;              ///< groups of reports more than three minutes apart
    std::uint64_t actor = 0;
    bool several_actors = false;
    std::uint32_t burst_unit = 0, last_unit = 0;  ///< the one unit of this burst; of the one before
    bool burst_mixed = false;
    unsigned unit_repeats = 0;
    bool state_was_bad = false;  ///< Xid 154 asked for something before
    std::vector<Stamp> recent;   ///< of rated rows: the newest reports
    bool too_many = false;       ///< the rate was exceeded
    bool gone = false;           ///< absorbed or dropped

    std::uint64_t count() const { return reports > 0 ? reports : details > 0 ? details : 1; }
};

/// What was recovered when, for one incident and device.
struct Recovered {
    Place last;
    std::uint16_t recovery = 0;
    std::uint64_t times = 0;
};

class Folder {
  public:
    static constexpr std::size_t kMostRecords = 4096;
    static constexpr std::size_t kMostEvidence = 512;

    void add(const Sighting& sighting, const Place& place, std::string_view evidence);
    void recover(const Recovery& recovery, const Place& place);
    void clear();
    /// The events, worst first; `overflow` is how many reports found no room.
    std::vector<LogEvent> finish(const Recogniser& machine, std::uint32_t boot, std::uint64_t& overflow);

  private:
    struct Key {
        std::uint64_t device = 0;  ///< packed address, or ~0 for none
        std::uint64_t kind = 0;    ///< row, number, hint
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            return static_cast<std::size_t>((key.device * 0x9e3779b97f4a7c15ULL) ^
                                            (key.kind * 0xc2b2ae3d27d4eb4fULL));
        }
    };

    static Key key_of(const Record& record);
    void store(Record&& record);
    void adopt(int incident, const Bdf& bdf, const Place& place);
    void park(Record&& record, int incident);

    std::unordered_map<Key, Record, KeyHash> records_;
    std::vector<Record>
        parked_;  ///< reports without an address, waiting for a line of their incident that has one
    std::unordered_map<std::uint64_t, Recovered> recovered_;  ///< by incident and device
    std::uint64_t overflow_ = 0;
    Verdict overflow_verdict_ = Verdict::not_applicable;
};

/// Merges `from` into `into`, both of one code on one device.
void combine(Record& into, Record&& from);
/// Does `b` begin within `seconds` of the end of `a`? Without clocks: within 200 lines.
bool near(const Place& a_last, const Place& b_first, double seconds);
/// Packs incident and device for Folder's table of recoveries.
std::uint64_t recovery_key(int incident, const std::optional<Bdf>& bdf);

/// Joins what belongs together and decides the verdicts (incidents.cpp).
void join_incidents(std::vector<Record>& records, const Recogniser& machine);
void apply_recoveries(std::vector<Record>& records,
                      const std::unordered_map<std::uint64_t, Recovered>& recovered);
void judge_repeats(std::vector<Record>& records);

}  // namespace gpucheck::host
