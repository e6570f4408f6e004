// What a kernel log said, folded into events, so that one fault that prints a thousand lines is judged once
// and a log that could not be read is never taken for a quiet one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/model/fields.h"
#include "checks/model/verdict.h"

namespace gpucheck {

/// One fault (or note) of a kernel log: a burst, a repeat or a multi-line report is one event.
struct LogEvent {
    std::string code;  ///< "xid.79"; a row of events.json or xids.json
    Verdict verdict = Verdict::unknown;
    Scope scope = Scope::unknown;
    Action action = Action::none;
    std::string bdf;             ///< "0000:5d:00.0"; empty: the line names no device
    unsigned xid = 0, sxid = 0;  ///< the driver's own number; 0: none
    std::uint64_t count =
        0;  ///< how often the kernel reported it; continuation and detail lines are not counted
    std::string first,
        last;  ///< RFC 3339 as far as the log tells, or seconds since boot; empty: no time printed
    std::uint64_t line = 0;         ///< number of the evidence line in the log, from 1
    std::string evidence;           ///< the line that decided the verdict, without its time and host name
    std::string device;             ///< what else the line names: "nvidia-nvswitch1", the RAS block "umc"
    std::vector<std::string> also;  ///< further codes of the same incident: 48 brings 63 and 94
    std::string note;               ///< why the verdict differs from the code's usual one
    bool earlier_boot = false;      ///< last seen before the newest boot marker in the log
    bool operator==(const LogEvent&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(LogEvent, code), GPUCHECK_FIELD(LogEvent, verdict),
                     GPUCHECK_FIELD(LogEvent, scope), GPUCHECK_FIELD(LogEvent, action),
                     GPUCHECK_FIELD(LogEvent, bdf), GPUCHECK_FIELD(LogEvent, xid),
                     GPUCHECK_FIELD(LogEvent, sxid), GPUCHECK_FIELD(LogEvent, count),
                     GPUCHECK_FIELD(LogEvent, first), GPUCHECK_FIELD(LogEvent, last),
                     GPUCHECK_FIELD(LogEvent, line), GPUCHECK_FIELD(LogEvent, evidence),
                     GPUCHECK_FIELD(LogEvent, device), GPUCHECK_FIELD(LogEvent, also),
                     GPUCHECK_FIELD(LogEvent, note), GPUCHECK_FIELD(LogEvent, earlier_boot));
    }
};

/// One kernel log, read to its end.
struct LogSummary {
    std::vector<LogEvent> events;  ///< the worst first
    std::uint64_t lines = 0;       ///< 0: the log held nothing, so nothing is known
    std::string first, last;       ///< time of its first and last line
    std::uint64_t lost = 0;        ///< records that the ring buffer had dropped before we read it
    std::uint64_t overflow = 0;    ///< reports of further distinct events that were counted but not listed
    std::string incomplete;        ///< why reading stopped early; empty: it did not
    bool operator==(const LogSummary&) const = default;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(LogSummary, events), GPUCHECK_FIELD(LogSummary, lines),
                     GPUCHECK_FIELD(LogSummary, first), GPUCHECK_FIELD(LogSummary, last),
                     GPUCHECK_FIELD(LogSummary, lost), GPUCHECK_FIELD(LogSummary, overflow),
                     GPUCHECK_FIELD(LogSummary, incomplete));
    }

    /// The worst event; unknown when there was no line, or when the rest could not be read and nothing
    /// failed.
    Verdict verdict() const {
        Verdict worst = lines == 0 || !incomplete.empty() ? Verdict::unknown : Verdict::pass;
        for (const LogEvent& event : events) worst = event.verdict > worst ? event.verdict : worst;
        return worst;
    }
};

}  // namespace gpucheck
