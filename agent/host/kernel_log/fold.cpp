// Counts sightings per code and device; see fold.h. What several codes mean together is decided at the end,
// in incidents.cpp.
#include "agent/host/kernel_log/fold.h"

#include <algorithm>

namespace gpucheck::host {
namespace {

// NVSentinel's burst window for application faults.
constexpr double kBurstSeconds = 180;
// Lines of one incident without clocks: the longest NVIDIA dumps (RPC history, stack) stay below this.
constexpr std::uint64_t kNearLines = 200;
constexpr std::size_t kMostParked = 32;

std::uint64_t packed(const Bdf& bdf) {
    return (static_cast<std::uint64_t>(bdf.domain) << 16U) | (static_cast<std::uint64_t>(bdf.bus) << 8U) |
           (static_cast<std::uint64_t>(bdf.device) << 3U) | bdf.function;
}

// A burst ends: did the same single unit raise this one and the one before?
void close_burst(Record& record) {
    if (record.burst_unit != 0 && !record.burst_mixed) {
        if (record.burst_unit == record.last_unit) ++record.unit_repeats;
        record.last_unit = record.burst_unit;
    }
    record.burst_unit = 0;
    record.burst_mixed = false;
}

void see_unit(Record& record, std::uint32_t unit) {
    if (unit == 0) return;
    if (record.burst_unit == 0)
        record.burst_unit = unit;
    else if (record.burst_unit != unit)
        record.burst_mixed = true;
}

void see_rate(Record& record, const Stamp& stamp, unsigned per_minute) {
    if (per_minute == 0 || record.too_many) return;
    if (!stamp.known()) {
        record.too_many = record.count() > per_minute;
        return;
    }
    record.recent.push_back(stamp);
    if (record.recent.size() <= per_minute) return;
    const std::optional<double> apart = seconds_between(record.recent.front(), stamp);
    record.too_many = apart && *apart >= 0 && *apart <= 60;
    record.recent.erase(record.recent.begin());
}

void set_evidence(Record& record, std::string_view evidence, std::uint64_t line) {
    record.evidence_line = line;
    record.evidence.assign(evidence.substr(0, Folder::kMostEvidence));
}

// Adds one more sighting to a record that exists.
void repeat(Record& record, const Sighting& sighting, const Place& place, std::string_view evidence) {
    const EventRow& row = Rules::get().row(record.row);
    if (sighting.part == Part::detail) {
        if (record.reports == 0 && sighting.pattern == record.detail_pattern) {
            ++record.details;
            see_rate(record, place.stamp, row.rate_per_minute);
        }
    } else {
        const std::optional<double> gap = seconds_between(record.last.stamp, place.stamp);
        if (gap && (*gap > kBurstSeconds || *gap < 0)) {
            ++record.bursts;
            close_burst(record);
        }
        if (record.reports++ == 0) set_evidence(record, evidence, place.line);
        see_unit(record, sighting.unit);
        see_rate(record, place.stamp, row.rate_per_minute);
        if (sighting.actor != 0) {
            record.several_actors =
                record.several_actors || (record.actor != 0 && record.actor != sighting.actor);
            record.actor = sighting.actor;
        }
    }
    const bool last_wins = row.xid == 154;
    if (sighting.verdict > record.verdict || last_wins) {
        if (sighting.verdict != record.verdict || last_wins) set_evidence(record, evidence, place.line);
        record.verdict = sighting.verdict;
        record.scope = sighting.scope;
        record.action = sighting.action;
        record.note.assign(sighting.note);
        record.state.assign(sighting.state.substr(0, 64));
    }
    record.state_was_bad = record.state_was_bad || sighting.verdict == Verdict::fail;
    if (record.device.empty()) record.device.assign(sighting.device.substr(0, 64));
    record.last = place;
}

// Rows that stand for many numbers keep them apart; an Xid with a row of its own needs none.
unsigned number_of(const Sighting& sighting) {
    const Rules& rules = Rules::get();
    const bool many = sighting.row == rules.xid_other || sighting.row == rules.sxid_fatal ||
                      sighting.row == rules.sxid_nonfatal || sighting.row == rules.sxid_unparsed;
    return many ? sighting.number : 0;
}

Record first_of(const Sighting& sighting, const Place& place, std::string_view evidence) {
    Record record;
    record.row = sighting.row;
    record.hint = sighting.part == Part::hint;
    record.bdf = sighting.bdf;
    const Rules& rules = Rules::get();
    record.number = number_of(sighting);
    record.verdict = sighting.verdict;
    record.scope = sighting.scope;
    record.action = sighting.action;
    record.reports = sighting.part == Part::report ? 1 : 0;
    record.details = sighting.part == Part::detail ? 1 : 0;
    record.detail_pattern = sighting.pattern;
    record.first = record.last = place;
    record.device.assign(sighting.device.substr(0, 64));
    record.state.assign(sighting.state.substr(0, 64));
    record.note.assign(sighting.note);
    record.actor = sighting.actor;
    record.state_was_bad = sighting.verdict == Verdict::fail;
    see_unit(record, sighting.unit);
    see_rate(record, place.stamp, rules.row(record.row).rate_per_minute);
    set_evidence(record, evidence, place.line);
    return record;
}

}  // namespace

bool near(const Place& a_last, const Place& b_first, double seconds) {
    if (a_last.boot != b_first.boot) return false;
    if (b_first.line <= a_last.line) return true;  // they overlap
    const std::optional<double> gap = seconds_between(a_last.stamp, b_first.stamp);
    if (gap) return *gap <= seconds && *gap >= -seconds;
    return b_first.line - a_last.line <= kNearLines;
}

std::uint64_t recovery_key(int incident, const std::optional<Bdf>& bdf) {
    return (static_cast<std::uint64_t>(incident + 1) << 56U) |
           (bdf ? packed(*bdf) : (std::uint64_t{1} << 55U));
}

void combine(Record& into, Record&& from) {
    into.reports += from.reports;
    into.details += from.details;
    if (from.first.line < into.first.line) into.first = from.first;
    if (from.last.line > into.last.line) into.last = from.last;
    if (from.verdict > into.verdict || (into.reports == from.reports && from.reports > 0)) {
        into.evidence = std::move(from.evidence);
        into.evidence_line = from.evidence_line;
        into.verdict = std::max(into.verdict, from.verdict);
        into.action = from.action;
        into.scope = from.scope;
        into.note = std::move(from.note);
    }
    into.hint = into.hint && from.hint;
    into.too_many = into.too_many || from.too_many;
    into.bursts = std::max(into.bursts, from.bursts);
    if (into.device.empty()) into.device = std::move(from.device);
}

Folder::Key Folder::key_of(const Record& record) {
    return {record.bdf ? packed(*record.bdf) : ~std::uint64_t{0},
            (static_cast<std::uint64_t>(record.number) << 20U) |
                (static_cast<std::uint64_t>(record.row) << 1U) | (record.hint ? 1U : 0U)};
}

void Folder::store(Record&& record) {
    const Key key = key_of(record);
    if (const auto found = records_.find(key); found != records_.end()) {
        combine(found->second, std::move(record));
    } else if (records_.size() < kMostRecords) {
        records_.emplace(key, std::move(record));
    } else {
        overflow_ += record.count();
        overflow_verdict_ = std::max(overflow_verdict_, record.verdict);
    }
}

// Reports without an address that wait for this incident get this device.
void Folder::adopt(int incident, const Bdf& bdf, const Place& place) {
    const Rules& rules = Rules::get();
    for (std::size_t i = 0; i < parked_.size();) {
        Record& record = parked_[i];
        if (rules.incident_of(record.row) != incident) {
            ++i;
            continue;
        }
        if (near(record.last, place, rules.window_s(incident))) record.bdf = bdf;
        store(std::move(record));
        parked_.erase(parked_.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

void Folder::park(Record&& record, int incident) {
    const Rules& rules = Rules::get();
    for (Record& waiting : parked_) {
        if (waiting.row != record.row || waiting.hint != record.hint) continue;
        if (near(waiting.last, record.first, rules.window_s(incident))) {
            combine(waiting, std::move(record));
        } else {
            std::swap(waiting, record);
            store(std::move(record));
        }
        return;
    }
    if (parked_.size() >= kMostParked) {
        store(std::move(parked_.front()));
        parked_.erase(parked_.begin());
    }
    parked_.push_back(std::move(record));
}

void Folder::add(const Sighting& sighting, const Place& place, std::string_view evidence) {
    const Rules& rules = Rules::get();
    const int incident = rules.incident_of(sighting.row);
    if (incident >= 0 && !parked_.empty() && sighting.bdf) adopt(incident, *sighting.bdf, place);
    if (incident >= 0 && !sighting.bdf && sighting.number == 0) {
        park(first_of(sighting, place, evidence), incident);
        return;
    }
    Record fresh;
    fresh.row = sighting.row;
    fresh.bdf = sighting.bdf;
    fresh.hint = sighting.part == Part::hint;
    fresh.number = number_of(sighting);
    if (const auto found = records_.find(key_of(fresh)); found != records_.end()) {
        repeat(found->second, sighting, place, evidence);
        return;
    }
    store(first_of(sighting, place, evidence));
}

void Folder::recover(const Recovery& recovery, const Place& place) {
    for (int incident = 0; incident < 32; ++incident) {
        if (((recovery.incidents >> static_cast<unsigned>(incident)) & 1U) == 0) continue;
        const std::uint64_t key = recovery_key(incident, recovery.bdf);
        if (recovered_.size() >= kMostRecords && !recovered_.contains(key)) continue;
        Recovered& entry = recovered_[key];
        entry.last = place;
        entry.recovery = recovery.recovery;
        ++entry.times;
    }
}

void Folder::clear() {
    records_.clear();
    parked_.clear();
    recovered_.clear();
    overflow_ = 0;
    overflow_verdict_ = Verdict::not_applicable;
}

std::vector<LogEvent> Folder::finish(const Recogniser& machine, std::uint32_t boot, std::uint64_t& overflow) {
    for (Record& record : parked_) store(std::move(record));
    parked_.clear();
    std::vector<Record> records;
    records.reserve(records_.size());
    for (auto& [key, record] : records_) {
        close_burst(record);
        records.push_back(std::move(record));
    }
    records_.clear();
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
        return a.first.line != b.first.line ? a.first.line < b.first.line : a.row < b.row;
    });
    overflow = overflow_;
    if (records.empty()) return {};  // and the rules need not be read
    judge_repeats(records);
    join_incidents(records, machine);
    apply_recoveries(records, recovered_);

    const Rules& rules = Rules::get();
    std::vector<LogEvent> events;
    for (Record& record : records) {
        if (record.gone) continue;
        const EventRow& row = rules.row(record.row);
        LogEvent event;
        event.code = row.catalogue.code;
        event.verdict = record.verdict;
        event.scope = record.scope.value_or(row.catalogue.scope);
        event.action = record.action.value_or(row.catalogue.action);
        if (record.bdf) event.bdf = record.bdf->str();
        event.xid = row.xid != 0 ? row.xid : record.row == rules.xid_other ? record.number : 0;
        event.sxid = record.row != rules.xid_other ? record.number : 0;
        event.count = record.count();
        event.first = record.first.stamp.text();
        event.last = record.last.stamp.text();
        event.line = record.evidence_line;
        event.evidence = std::move(record.evidence);
        event.device = std::move(record.device);
        event.note = std::move(record.note);
        event.earlier_boot = record.last.boot < boot;
        for (const std::uint16_t other : record.also) event.also.push_back(rules.row(other).catalogue.code);
        std::sort(event.also.begin(), event.also.end());
        event.also.erase(std::unique(event.also.begin(), event.also.end()), event.also.end());
        events.push_back(std::move(event));
    }
    if (overflow_ > 0) {
        LogEvent rest;
        rest.code = "kernel.log.overflow";
        rest.verdict = overflow_verdict_;
        rest.action = Action::monitor;
        rest.count = overflow_;
        rest.evidence = "more distinct events than are listed one by one";
        events.push_back(std::move(rest));
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const LogEvent& a, const LogEvent& b) { return a.verdict > b.verdict; });
    overflow = overflow_;
    return events;
}

}  // namespace gpucheck::host
