// What a report's own parts say about each other: a pass beside a fault, or without anything that passed, is
// a lie or a defect, and never evidence.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "agent/report/report_id.h"
#include "checks/specs/boards.h"
#include "fleet/read/report.h"

namespace gpucheck::fleet {

std::string utc_of(std::string_view time) {
    const std::optional<std::int64_t> seconds = report::unix_seconds(time);
    return seconds ? report::rfc3339_utc(*seconds) : std::string();
}

std::string key_of_host(std::string_view hostname) {
    std::string key;
    for (const char c : hostname) {
        if (c == '/' || c == '%')
            key += c == '/' ? "%2F" : "%25";
        else
            key += c;
    }
    return key;
}

std::string key_of_instance(std::string_view provider, std::string_view id) {
    const std::string first = provider == "boot" ? "%62oot" : key_of_host(provider);
    return first + '/' + std::string(id);
}

std::string key_of_boot(std::string_view boot_id) {
    return "boot/" + std::string(boot_id);
}

std::string_view identity_of(std::string_view serial, std::string_view uuid) {
    for (const std::string_view text : {serial, uuid}) {
        const std::string_view number = text.starts_with("GPU-") ? text.substr(4) : text;
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        std::string word;
        for (const char c : number) {
            if (c != '-' && c != ' ' && c != '.') word += lower(c);
        }
        const bool said = word != "n/a" && word != "na" && word != "none" && word != "null" &&
                          word != "unknown" && word != "notavailable" && word != "notspecified" &&
                          word != "default" && word != "tobefilledbyoem";
        const bool filled = word.find_first_not_of('0') == std::string::npos ||
                            word.find_first_not_of('f') == std::string::npos;
        if (said && !filled) return text;
    }
    return {};
}

namespace {

// Checks that each version of gpucheck has made of each machine, and that every profile requires.
constexpr std::array<std::string_view, 6> kAlways{"run",          "gpu.count",    "driver.loaded",
                                                  "driver.bound", "nodes.access", "pcie.width"};

// What only a report that claims no fault can lack: one that fails is believed with less.
void miss_checks(const NodeReport& report, const Vocabulary& names, const std::string& claim, Flaw& flaw) {
    for (const std::string_view id : kAlways) {
        const auto found =
            std::find_if(report.checks.begin(), report.checks.end(),
                         [&](const CheckState& check) { return names.text(check.check) == id; });
        if (found == report.checks.end())
            return flaw.say("was cut or changed: its check " + std::string(id) + " is missing");
        if (report.verdict < Verdict::unknown && found->verdict == Verdict::unknown)
            return flaw.say(claim + ", its check " + std::string(id) + " ended with unknown");
    }
    const bool any_passed =
        std::any_of(report.checks.begin(), report.checks.end(), [&](const CheckState& check) {
            return names.text(check.check) != "run" &&
                   (check.verdict == Verdict::pass || check.verdict == Verdict::warn);
        });
    if (report.verdict < Verdict::unknown && !any_passed) flaw.say(claim + ", and none of its checks passed");
}

/// The datasheet's part of what a report says of its GPUs.
struct Sheet {
    double low_gb = 0, high_gb = 0;  ///< 0: not known
    bool alone = false;              ///< no other GPU has its board's serial number
};

const std::map<std::string, Sheet, std::less<>>& sheets() {
    static const auto kSheets = [] {
        std::map<std::string, Sheet, std::less<>> all;
        const auto loaded = BoardTable::load();
        const auto* table = std::get_if<BoardTable>(&loaded);
        if (table == nullptr) return all;
        for (const BoardRow& row : table->rows()) {
            Sheet& sheet = all[row.board.key];
            if (row.memory_gb.known()) {
                sheet.low_gb = row.memory_gb->low;
                sheet.high_gb = row.memory_gb->high;
            }
            // Two dies of an MI250X have one board, as have the GPUs of a superchip.
            sheet.alone = row.functions_per_board == 1 && row.board.form != FormFactor::superchip;
        }
        return all;
    }();
    return kSheets;
}

const Sheet* sheet_of(const Gpu& gpu, const Vocabulary& names) {
    const auto found = sheets().find(names.text(gpu.board));
    return found == sheets().end() ? nullptr : &found->second;
}

/// One GPU in two slots: the other one was never there. The GPUs of one board may share its serial number,
/// and never a UUID.
void count_twice(const NodeReport& report, const Vocabulary& names, Flaw& flaw) {
    std::map<std::string_view, const Gpu*> known;
    for (const Gpu& gpu : report.gpus) {
        if (gpu.identity.empty()) continue;
        const auto [other, fresh] = known.emplace(gpu.identity, &gpu);
        if (fresh) continue;
        const Sheet* sheet = sheet_of(gpu, names);
        const bool uuid =
            gpu.identity.starts_with("GPU-") || (gpu.identity.size() == 36 && gpu.identity[8] == '-');
        const bool unique = uuid || (sheet != nullptr && sheet->alone);
        if (unique)
            return flaw.say("contradicts itself: its GPUs " + names.text(other->second->bdf) + " and " +
                            names.text(gpu.bdf) + " are both " + gpu.identity);
    }
}

/// A GPU that was measured had a driver, and as much memory as such a board has.
void contradict_hardware(const NodeReport& report, const Vocabulary& names, Flaw& flaw) {
    constexpr double kGb = 1e9 / (1024.0 * 1024 * 1024), kTolerance = 0.25;
    int measured = 0;
    for (const Gpu& gpu : report.gpus) {
        measured += std::any_of(gpu.values.begin(), gpu.values.end(), [&](const Value& value) {
            return names.text(value.metric) != "capacity_bytes";
        });
        const std::string& mode = names.text(gpu.mode);
        const Sheet* sheet = sheet_of(gpu, names);
        if (sheet == nullptr || sheet->low_gb <= 0 || gpu.memory_gib <= 0) continue;
        if (mode != "whole" && !mode.starts_with("SPX")) continue;
        // The datasheet's GB may be GiB.
        if (gpu.memory_gib < sheet->low_gb * kGb * (1 - kTolerance) ||
            gpu.memory_gib > sheet->high_gb * (1 + kTolerance))
            return flaw.say("contradicts itself: its GPU " + names.text(gpu.bdf) + " is a whole " +
                            names.text(gpu.board) + " with " + std::to_string(std::lround(gpu.memory_gib)) +
                            " GiB of memory, of which such a board has " +
                            std::to_string(std::lround(sheet->high_gb)));
    }
    if (report.gpus_bound >= 0 && report.gpus_bound < measured)
        flaw.say("contradicts itself: a driver holds " + std::to_string(report.gpus_bound) +
                 " of its GPUs, and " + std::to_string(measured) + " were measured");
}

}  // namespace

void contradict(const NodeReport& report, const Vocabulary& names, Verdict worst_required, Flaw& flaw) {
    const std::string claim = "contradicts itself: its verdict is " + std::string(name_of(report.verdict));
    for (const Problem& problem : report.problems) {
        if (problem.verdict > report.verdict)
            return flaw.say(claim + ", its finding " + names.text(problem.code) + " is " +
                            std::string(name_of(problem.verdict)));
    }
    if (worst_required > report.verdict)
        return flaw.say(claim + ", one of its checks ended with " + std::string(name_of(worst_required)));
    for (const Gpu& gpu : report.gpus) {
        if (gpu.verdict > report.verdict && gpu.verdict != Verdict::unknown)
            return flaw.say(claim + ", its GPU " + names.text(gpu.bdf) + " has " +
                            std::string(name_of(gpu.verdict)));
    }
    // A GPU that is counted and not shown cannot be judged.
    if (report.gpus_found > static_cast<int>(report.gpus.size()))
        return flaw.say("contradicts itself: it counts " + std::to_string(report.gpus_found) +
                        " GPUs and shows " + std::to_string(report.gpus.size()));
    // One that fails is believed with less: it accepts nothing.
    if (report.verdict == Verdict::fail) return;
    count_twice(report, names, flaw);
    if (!flaw) contradict_hardware(report, names, flaw);
    if (!flaw) miss_checks(report, names, claim, flaw);
}

}  // namespace gpucheck::fleet
