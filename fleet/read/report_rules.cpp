// What a report's own parts say about each other: a pass beside a fault, or without anything that passed, is
// a lie or a defect, and never evidence.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/report/report_id.h"
#include "fleet/read/report.h"

namespace gpucheck::fleet {

std::string utc_of(std::string_view time) {
    const std::optional<std::int64_t> seconds = report::unix_seconds(time);
    return seconds ? report::rfc3339_utc(*seconds) : std::string();
}

bool is_report_id(std::string_view id) {
    constexpr std::string_view kForm = "xxxxxxxx-xxxx-7xxx-vxxx-xxxxxxxxxxxx";
    if (id.size() != kForm.size()) return false;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const char c = id[i];
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        const bool variant = c == '8' || c == '9' || c == 'a' || c == 'b';
        const bool fits = kForm[i] == 'x' ? hex : kForm[i] == 'v' ? variant : c == kForm[i];
        if (!fits) return false;
    }
    return true;
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
    if (report.verdict != Verdict::fail) miss_checks(report, names, claim, flaw);
}

}  // namespace gpucheck::fleet
