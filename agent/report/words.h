// The sentences that several formats share, so that a ticket, a page and a terminal say the same thing.
#pragma once

#include <string>
#include <string_view>

#include "agent/report/view.h"

namespace gpucheck::report {

/// "PASS", "WARN", "FAIL", "UNKNOWN", "NOT APPLICABLE".
std::string_view shout(Verdict verdict);
/// "gpu-node-01 (aws p5.48xlarge, kvm guest, docker)": made `plain`.
std::string machine_words(const Report& report);
/// "Price of one hour: 20.72 USD, 2.59 USD a GPU, on-demand (...)."; empty when no price is known.
std::string price_words(const Instance& instance);
/// "8 of 8 GPUs", "7 of 8 GPUs", "8 of 8 GPUs on the bus, 6 bound to a driver", "no GPU", "8 GPUs (none
/// promised a number)".
std::string count_words(const GpuCount& count);
/// "nothing wrong in what was checked", "2 faults, 1 warning", ...
std::string summary_words(const Report& report, const View& view);
/// Verdict, machine, counts and summary in one line: "FAIL: gpu-node-01: 7 of 8 GPUs, 1 fault".
std::string headline(const Report& report, const View& view);
/// One sentence for a machine without a GPU: what was looked at; empty when there are GPUs.
std::string looked_at(const Report& report);
/// "you, inside this machine"; who can mend it.
std::string_view scope_words(Scope scope);
/// "reboot the machine"; the next step as an imperative. Empty for none.
std::string_view action_words(Action action);
/// "recorded machine DIR", "fault injected: X": what makes a report unlike a live one; empty for an ordinary
/// run.
std::string caveat(const Report& report);
/// "0000:19:00.0, 0000:29:00.0 and 6 more": made `plain`.
std::string list_words(const std::vector<std::string_view>& subjects, std::size_t most);
/// "1 fault", "3 faults".
std::string plural(std::size_t count, std::string_view noun);

}  // namespace gpucheck::report
