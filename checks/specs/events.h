// The event catalogue: which kernel-log lines report a fault, and what each fault means. Data, so that an
// operator can read why a line counts and a new driver wording is one row, not new code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/specs/catalogue.h"

namespace gpucheck {

/// One kind of event. Patterns are written in the small language of agent/host/kernel_log/pattern.h.
struct EventRow {
    CatalogueRow catalogue;  ///< what `explain` and a finding say; its severity is the worst it is given with
    Verdict verdict = Verdict::unknown;  ///< what one line means before anything else is known
    std::string family;                  ///< "nvidia", "amd", "pcie", "driver", "host"
    std::string incident;                ///< events of one incident on one device become one; "" none
    int rank = 0, hint_rank = 0;         ///< the highest rank names the incident
    std::vector<std::string> match;      ///< each such line is one report
    std::vector<std::string> detail;     ///< further lines of the same report: never counted beside it
    std::vector<std::string> hint;       ///< lines that mean something only inside an incident
    std::vector<std::string> without;    ///< texts that a line must not hold
    std::string require;                 ///< text that a line must hold
    std::string near_miss;               ///< a line that looks like it and is harmless
    std::string decode;                  ///< "aca": the captured word is an MCA STATUS register
    unsigned xid = 0;                    ///< rows of xids.json
    unsigned rate_per_minute = 0;        ///< fewer in every minute are a pass
    bool ignore_case = false;
    bool programs = false;           ///< also believed from modprobe, systemd-modules-load, systemd-udevd
    bool gpus_only = false;          ///< counts only for a device known to be a GPU
    bool not_other_devices = false;  ///< does not count for a device known to be something else
    bool stays = false;              ///< no later line makes it good: only looking at the machine can
    bool bare_metal_only = false;    ///< means nothing below a hypervisor's virtual ports
};

/// A line that says an earlier fault is over.
struct RecoveryRow {
    std::string name;  ///< "a GPU reset succeeded"
    std::vector<std::string> match;
    std::string require;
    std::vector<std::string> incidents;
    std::string counts_as;  ///< a code that this line also is a detail of; "" none
    std::string not_for;    ///< it does not end events whose evidence holds this text
};

struct IncidentRow {
    std::string name;
    unsigned window_s = 0;  ///< how far apart the lines of one incident may be
};

struct EventBook {
    std::vector<std::string> anchors;  ///< rare texts, one of which stands in nearly every line that matters
    std::vector<IncidentRow> incidents;
    std::vector<std::string> contexts;  ///< lines that name the device of the lines after them
    std::vector<RecoveryRow> recoveries;
    std::vector<EventRow> rows;  ///< events.json, then xids.json
    std::size_t rejected = 0;    ///< rows that did not parse; a test demands 0
};

/// The embedded events.json and xids.json, read on first use.
const EventBook& event_book();
/// The row of a code; nullptr when there is none.
const EventRow* event_row(std::string_view code);
/// The row of an Xid number, for `explain --xid N`: its own, or that of "xid.other".
const EventRow* xid_event_row(unsigned number);

}  // namespace gpucheck
