// What several codes mean together: one memory error prints 48, 63 and 94; a lost GPU prints on two levels of
// the bus; a reset that succeeded ends a hang. Here the history stays listed and the final state decides.
#include <algorithm>
#include <set>

#include "agent/host/kernel_log/fold.h"

namespace gpucheck::host {
namespace {

// Clean-up lines follow their cause within this time (trains of Xid 45 last seconds).
constexpr double kAftermathSeconds = 60;
constexpr double kPcieSeconds = 10;

const EventRow& row_of(const Record& record) {
    return Rules::get().row(record.row);
}
unsigned xid_of(const Record& record) {
    return row_of(record).xid;
}
bool same_card(const Bdf& a, const Bdf& b) {
    return a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

// The code that names an incident: the one with the gravest consequence for who reads it.
int rank_of(const Record& record) {
    switch (xid_of(record)) {
        case 64:
            return record.verdict == Verdict::fail ? 70 : 20;
        case 63:
            return record.verdict == Verdict::fail ? 65 : 30;
        case 95:
            return 60;
        case 140:
            return 55;
        case 48:
            return 50;
        case 171:
            return 45;
        case 172:
            return 44;
        case 94:
            return 40;
        case 79:
            return 35;
        case 119:
        case 120:
            return 10;
        default:
            break;
    }
    const EventRow& row = row_of(record);
    return record.hint ? row.hint_rank : row.rank;
}

void absorb(Record& lead, Record& other) {
    if (other.first.line < lead.first.line) lead.first = other.first;
    if (other.last.line > lead.last.line) lead.last = other.last;
    if (other.row != lead.row) lead.also.push_back(other.row);
    lead.also.insert(lead.also.end(), other.also.begin(), other.also.end());
    // What could not be told from one line is told by the lead.
    if (!other.hint && other.verdict != Verdict::unknown)
        lead.verdict = std::max(lead.verdict, other.verdict);
    other.gone = true;
}

// A contained double-bit error whose row is marked for remapping (48 + 63 + 94) wants a reset, not a
// replacement, unless it returns (NVIDIA GPU memory error management guide).
void judge_memory_error(Record& lead, const std::set<unsigned>& xids, unsigned bursts) {
    if (xid_of(lead) != 48 || !xids.contains(63) || !xids.contains(94)) return;
    if (xids.contains(64) || xids.contains(95) || xids.contains(140) || lead.verdict != Verdict::fail) return;
    if (bursts > 1) {
        lead.action = Action::drain_and_replace;
        lead.note = "contained and marked for remapping, but it returned";
        return;
    }
    lead.verdict = Verdict::warn;
    lead.action = Action::reset_gpu;
    lead.note = "contained, and the row is marked for remapping: a reset or reboot completes it";
}

void join_cluster(const std::vector<Record*>& members) {
    Record* lead = members.front();
    for (Record* member : members) {
        if (rank_of(*member) > rank_of(*lead)) lead = member;
    }
    bool repair_failed = false;
    std::set<unsigned> xids;
    unsigned bursts = 1;
    for (const Record* member : members) {
        xids.insert(xid_of(*member));
        if (xid_of(*member) == 48) bursts = member->bursts;
        repair_failed = repair_failed || (xid_of(*member) == 63 && member->verdict == Verdict::fail);
    }
    const bool only_hints =
        std::all_of(members.begin(), members.end(), [](const Record* member) { return member->hint; });
    if (only_hints) {
        for (Record* member : members) member->gone = true;
        return;
    }
    for (Record* member : members) {
        if (member != lead) absorb(*lead, *member);
    }
    if (lead->hint) lead->hint = false;
    if (!repair_failed) judge_memory_error(*lead, xids, bursts);
}

// Joins records of one incident on one device that are near in time. `records` are in order of first line.
void join_on_device(std::vector<Record>& records) {
    const Rules& rules = Rules::get();
    for (std::size_t i = 0; i < records.size(); ++i) {
        const int incident = rules.incident_of(records[i].row);
        if (records[i].gone || incident < 0) continue;
        std::vector<Record*> members{&records[i]};
        Place end = records[i].last;
        for (std::size_t k = i + 1; k < records.size(); ++k) {
            Record& other = records[k];
            if (other.gone || rules.incident_of(other.row) != incident || other.bdf != records[i].bdf)
                continue;
            if (other.number != records[i].number) continue;  // two SXids are two faults
            if (!near(end, other.first, rules.window_s(incident))) continue;
            members.push_back(&other);
            if (other.last.line > end.line) end = other.last;
        }
        if (members.size() > 1 || records[i].hint) join_cluster(members);
    }
}

// Reports without an address belong to the device that reported the same incident near in time; failing that,
// to the only device that reported it at all.
void join_addressless(std::vector<Record>& records) {
    const Rules& rules = Rules::get();
    for (Record& record : records) {
        const int incident = rules.incident_of(record.row);
        if (record.gone || record.bdf || incident < 0 || record.number != 0) continue;
        Record* close = nullptr;
        std::set<Bdf> devices;
        Record* any = nullptr;
        for (Record& other : records) {
            if (other.gone || !other.bdf || rules.incident_of(other.row) != incident) continue;
            devices.insert(*other.bdf);
            any = &other;
            const bool follows = near(record.last, other.first, rules.window_s(incident));
            if (close == nullptr && (follows || near(other.last, record.first, rules.window_s(incident))))
                close = &other;
        }
        Record* home = close != nullptr ? close : devices.size() == 1 ? any : nullptr;
        if (home == nullptr) continue;
        if (rank_of(record) > rank_of(*home)) {
            record.bdf = home->bdf;
            absorb(record, *home);
        } else {
            absorb(*home, record);
        }
    }
}

// 43, 44 and 45 clean up after another error of the same GPU.
void join_aftermath(std::vector<Record>& records) {
    for (const unsigned consequence : {45U, 44U, 43U}) {
        for (Record& record : records) {
            if (record.gone || xid_of(record) != consequence) continue;
            Record* cause = nullptr;
            for (Record& other : records) {
                if (other.gone || &other == &record || row_of(other).family != "nvidia" ||
                    other.bdf != record.bdf)
                    continue;
                if (xid_of(other) == 45 || xid_of(other) == 154 || other.verdict < Verdict::warn) continue;
                if (other.first.line > record.first.line) continue;
                if (near(other.last, record.first, kAftermathSeconds)) cause = &other;
            }
            if (cause != nullptr) absorb(*cause, record);
        }
    }
}

// The port above a device and the functions of one card report the same PCIe error; the GPU is what the owner
// knows.
void join_ports(std::vector<Record>& records, const Recogniser& machine) {
    const auto is_pcie = [](const Record& record) { return row_of(record).incident == "pcie.error"; };
    const auto is_lost = [](const Record& record) {
        return xid_of(record) == 79 || row_of(record).catalogue.code == "nvidia.bus.lost";
    };
    for (Record& record : records) {
        if (record.gone || !record.bdf || !is_pcie(record)) continue;
        for (Record& other : records) {
            if (other.gone || &other == &record || !other.bdf || !(is_pcie(other) || is_lost(other)))
                continue;
            const bool above =
                record.bdf->domain == other.bdf->domain && record.bdf->bus + 1 == other.bdf->bus;
            if (!above && !same_card(*record.bdf, *other.bdf)) continue;
            const bool close = record.first.line <= other.first.line
                                   ? near(record.last, other.first, kPcieSeconds)
                                   : near(other.last, record.first, kPcieSeconds);
            if (!close) continue;
            const bool gpu = is_lost(other) || machine.is_gpu(*other.bdf);
            const Bdf device = gpu || above ? *other.bdf : std::min(*record.bdf, *other.bdf);
            Record& lead = is_lost(other) || rank_of(other) >= rank_of(record) ? other : record;
            Record& rest = &lead == &other ? record : other;
            absorb(lead, rest);
            lead.bdf = device;
            if (&rest == &record) break;
        }
    }
}

// 154 says what the driver wants done about an error of the same GPU, and later that it is done.
void join_recovery_actions(std::vector<Record>& records) {
    for (Record& state : records) {
        if (state.gone || xid_of(state) != 154) continue;
        Record* cause = nullptr;
        for (Record& other : records) {
            if (other.gone || &other == &state || row_of(other).family != "nvidia" || other.bdf != state.bdf)
                continue;
            if (other.verdict < Verdict::warn) continue;
            const bool done =
                state.verdict == Verdict::pass && state.state_was_bad && state.last.line > other.last.line;
            const Action usual = row_of(other).catalogue.action;
            if (done && other.verdict == Verdict::fail &&
                (usual == Action::reset_gpu || usual == Action::reboot)) {
                other.verdict = Verdict::warn;
                other.action = Action::monitor;
                other.note = "recovered: the driver says that no recovery action is open any more";
            }
            const bool close = other.first.line <= state.first.line
                                   ? near(other.last, state.first, kAftermathSeconds)
                                   : near(state.last, other.first, kAftermathSeconds);
            if (close && (cause == nullptr || other.verdict >= cause->verdict)) cause = &other;
        }
        if (cause == nullptr) continue;
        if (state.verdict == Verdict::fail) {
            cause->action = state.action;
            cause->note = "the driver asks for: " + state.state;
        }
        absorb(*cause, state);
    }
}

void drop_what_cannot_count(std::vector<Record>& records, const Recogniser& machine) {
    const Rules& rules = Rules::get();
    for (Record& record : records) {
        if (record.gone) continue;
        const EventRow& row = row_of(record);
        if (record.hint) record.gone = true;
        if (row.rate_per_minute != 0 && !record.too_many) {
            record.verdict = Verdict::pass;
            record.action = Action::none;
            record.note = "fewer than " + std::to_string(row.rate_per_minute + 1) + " in any minute";
        }
        if (row.bare_metal_only && machine.hypervisor()) record.gone = true;
        if (!record.bdf) continue;
        if (row.family == "pcie" && machine.is_other(*record.bdf)) record.gone = true;
        if (row.gpus_only && row.verdict == Verdict::fail && !machine.is_gpu(*record.bdf)) record.gone = true;
    }
    // Data lines of an SXid whose report was seen say nothing new.
    for (Record& record : records) {
        if (record.gone || record.row != rules.sxid_unparsed || record.reports > 0) continue;
        record.gone = std::any_of(records.begin(), records.end(), [&](const Record& other) {
            return (other.row == rules.sxid_fatal || other.row == rules.sxid_nonfatal) &&
                   other.number == record.number;
        });
    }
}

}  // namespace

void judge_repeats(std::vector<Record>& records) {
    std::size_t faulting_31 = 0;
    for (const Record& record : records) faulting_31 += xid_of(record) == 31 ? 1U : 0U;
    for (Record& record : records) {
        const unsigned xid = xid_of(record);
        if (xid == 109 && record.several_actors) {
            record.verdict = Verdict::fail;
            record.note = "different programs met it on this GPU";
        }
        // Sources: NVSentinel escalates 13 twice on one GPC and TPC, and 31 twice on one GPU, to field
        // diagnostics; spread over GPUs it is the application. A suspicion, so the verdict stays a warning.
        const bool again = (xid == 13 && record.unit_repeats > 0) ||
                           (xid == 31 && record.unit_repeats > 0 && faulting_31 == 1);
        if (again) {
            record.scope = Scope::host;
            record.action = Action::contact_provider;
            record.note = "the same unit of this GPU alone fails again and again: run field diagnostics";
        }
    }
}

void join_incidents(std::vector<Record>& records, const Recogniser& machine) {
    join_on_device(records);
    join_addressless(records);
    join_ports(records, machine);
    join_aftermath(records);
    join_recovery_actions(records);
    drop_what_cannot_count(records, machine);
}

void apply_recoveries(std::vector<Record>& records,
                      const std::unordered_map<std::uint64_t, Recovered>& recovered) {
    // A GPU that needs a third reset within one log keeps hanging, whatever each reset says.
    constexpr std::uint64_t kResetsTooMany = 3;
    const Rules& rules = Rules::get();
    for (Record& record : records) {
        const int incident = rules.incident_of(record.row);
        if (record.gone || incident < 0 || record.verdict != Verdict::fail) continue;
        for (const bool everywhere : {false, true}) {
            const auto found = recovered.find(recovery_key(incident, everywhere ? std::nullopt : record.bdf));
            if (found == recovered.end() || found->second.last.line < record.last.line) continue;
            const RecoveryRow& row = event_book().recoveries[found->second.recovery];
            if (row.counts_as == "amdgpu.reset" && found->second.times >= kResetsTooMany) {
                record.note = "resets succeed, but the GPU hangs again and again";
                record.action = Action::drain_and_replace;
                continue;
            }
            record.verdict = Verdict::warn;
            record.action = Action::monitor;
            record.note = "recovered: " + row.name;
            break;
        }
    }
}

}  // namespace gpucheck::host
