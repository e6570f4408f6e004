// Tells a booting instance's verdict to those who wait for it: programs by /run/gpucheck/verdict.json, people
// by one line on the console and in the message of the day, fleets by fields of the journal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/boot_journal.h"
#include "agent/report/report.h"

namespace gpucheck::boot {

/// Where the files go.
struct Places {
    std::string runtime = "/run/gpucheck", state = "/var/lib/gpucheck";
    bool given = false;  ///< both by the environment: a simulated verdict may be written there
};
/// RUNTIME_DIRECTORY and STATE_DIRECTORY as systemd sets them (systemd.exec(5); the first of several), else
/// the usual ones.
Places places();

/// verdict.json.
std::string render_verdict(const report::Report& report, int exit_status);
/// "gpucheck: FAIL: 7 of 8 GPUs; gpu.count.missing, pcie.link.narrow; report 0193...": no control character,
/// whatever the machine said.
std::string verdict_line(const report::Report& report);
/// The line of the message of the day, which points to the report.
std::string motd_line(const report::Report& report, const Places& places);
std::vector<JournalField> journal_fields(const report::Report& report, int exit_status);

/// Before the run: no verdict of an earlier run may be taken for the one that is awaited.
void forget_verdict(const Places& places);
/// Writes verdict.json, report.json, report.txt and motd, each whole or not at all, and the journal's entry.
/// The sentence about what could not be written.
std::optional<std::string> announce(const report::Report& report, int exit_status, const Places& places);
/// This run announced its verdict: forget_verdict() was called before it.
bool verdict_stands(const Places& places);
/// A run that broke or could not begin has a verdict as well: unknown. `known`: what was known by then of the
/// run and its machine.
void announce_broken(report::Report known, int exit_status, const std::string& why, const Places& places);

}  // namespace gpucheck::boot
