// One report of gpucheck (docs/report.schema.json) cut down to a NodeReport, or the reason why it is none.
#pragma once

#include <string_view>

#include "fleet/model/fleet.h"
#include "fleet/read/members.h"

namespace gpucheck::fleet {

/// Nothing is added to `names` unless it is read; after a flaw the result means nothing.
NodeReport report_from(dom::element document, Vocabulary& names, Flaw& flaw);

/// "2026-11-30T10:00:00Z" of any RFC 3339 time; empty when it is none.
std::string utc_of(std::string_view time);

/// Whose reports belong together. No two forms can be the same text: a host name has no "/" in it ("%2F"
/// where it had), a provider neither, and none is called "boot".
std::string key_of_host(std::string_view hostname);
std::string key_of_instance(std::string_view provider, std::string_view id);
std::string key_of_boot(std::string_view boot_id);

/// The first that is the number of one GPU and no placeholder of firmware ("0000000000000", "N/A").
std::string_view identity_of(std::string_view serial, std::string_view uuid);

/// Says so when a report claims better than what it found: a pass beside a fault is no pass, nor is one
/// whose checks were cut out.
void contradict(const NodeReport& report, const Vocabulary& names, Verdict worst_required, Flaw& flaw);

}  // namespace gpucheck::fleet
