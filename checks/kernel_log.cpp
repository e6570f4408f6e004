// Judges what the kernel log of this boot says about the GPUs of this machine: faults that no counter shows,
// and never a pass for a log that nobody could read.
#include <algorithm>
#include <set>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "kernel.log";

// Findings refer to codes that live as long as the program; a snapshot does not.
std::string_view interned(const std::string& code) {
    static std::set<std::string, std::less<>> codes;
    constexpr std::size_t kMostCodes = 4096;
    const bool plain =
        !code.empty() && code.size() <= 48 && std::all_of(code.begin(), code.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
        });
    if (!plain || (codes.size() >= kMostCodes && !codes.contains(code))) return "kernel.log.overflow";
    return *codes.insert(code).first;
}

bool same_card(const Bdf& a, const Bdf& b) {
    return a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

bool from_gpu_driver(const LogEvent& event) {
    return event.code.starts_with("xid.") || event.code.starts_with("nvidia.") ||
           event.code.starts_with("amdgpu.") || event.code.starts_with("kfd.");
}

// The GPUs that an event concerns: the card itself, or those below a port that it names.
std::vector<const Device*> concerned(const Snapshot& snapshot, const Bdf& bdf) {
    std::vector<const Device*> devices;
    for (const Device& gpu : snapshot.gpus) {
        if (same_card(gpu.bdf, bdf)) return {&gpu};
    }
    for (const Device& gpu : snapshot.gpus) {
        const std::vector<PciPort>& path = gpu.pci.path;
        const bool below =
            std::any_of(path.begin(), path.end(), [&](const PciPort& port) { return port.bdf == bdf; });
        if (below) devices.push_back(&gpu);
    }
    return devices;
}

std::string observed(const LogEvent& event) {
    std::string text = std::to_string(event.count) + (event.count == 1 ? " report" : " reports");
    if (!event.first.empty())
        text += event.first == event.last ? ", " + event.first : ", " + event.first + " to " + event.last;
    text += ": " + event.evidence;
    if (!event.note.empty()) text += " [" + event.note + "]";
    return text;
}

/// What the facts of the machine make of the log's own verdict.
struct Judged {
    Verdict verdict;
    std::string because;
};

// The message blames nouveau whoever owns the device; the driver link knows (field case C033).
bool nvidia_owns_all(const Snapshot& snapshot) {
    bool any = false;
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.vendor != Vendor::nvidia) continue;
        any = true;
        if (!gpu.pci.driver.is("nvidia")) return false;
    }
    return any;
}

Judged judged(const Snapshot& snapshot, const LogEvent& event) {
    if (event.earlier_boot && event.verdict == Verdict::fail)
        return {Verdict::warn, "seen before the newest boot only"};
    const bool owner = event.code == "nvidia.driver.not_probed" || event.code == "nvidia.nouveau.bound";
    if (owner && nvidia_owns_all(snapshot)) return {Verdict::pass, "the nvidia driver owns every GPU now"};
    return {event.verdict, {}};
}

// Link limits are printed at enumeration for every device, and below a hypervisor they mean nothing.
bool counts_here(const Snapshot& snapshot, const LogEvent& event, const std::optional<Bdf>& bdf) {
    if (event.code != "pcie.bandwidth.limited") return true;
    if (!snapshot.host.bare_metal() || !bdf) return false;
    return std::any_of(snapshot.gpus.begin(), snapshot.gpus.end(),
                       [&](const Device& gpu) { return gpu.bdf == *bdf; });
}

void report(const Snapshot& snapshot, const LogEvent& event, const std::string& source, Findings& findings) {
    std::optional<Bdf> bdf = event.bdf.empty() ? std::nullopt : Bdf::parse(event.bdf);
    if (!counts_here(snapshot, event, bdf)) return;
    const Judged said = judged(snapshot, event);
    if (said.verdict <= Verdict::pass) return;
    const auto emit = [&](Subject subject) {
        Finding found = finding(
            interned(event.code), said.verdict, std::move(subject), "no such report in the kernel log",
            observed(event) + (said.because.empty() ? "" : " [" + said.because + "]"), source);
        found.scope = event.scope;
        findings.push_back(std::move(found));
    };
    if (!bdf) return emit({});
    const std::vector<const Device*> devices = concerned(snapshot, *bdf);
    for (const Device* gpu : devices) emit(gpu->bdf);
    if (!devices.empty()) return;
    const std::vector<Bdf>& switches = snapshot.host.nvswitches;
    const bool nvswitch = std::find(switches.begin(), switches.end(), *bdf) != switches.end();
    // A GPU that left the bus is in no list any more, but its driver still named it.
    if (nvswitch || from_gpu_driver(event) || event.code.starts_with("sxid.") ||
        event.code.starts_with("hw."))
        emit(*bdf);
}

void unread(std::string_view code, std::string observed, const std::string& source, Findings& findings) {
    findings.push_back(finding(code, Verdict::unknown, {}, "a readable kernel log of this boot",
                               std::move(observed), source));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<LogSummary>& log = snapshot.host.kernel_log;
    if (!log.known()) return unread("kernel.log.unread", log.why(), log.source(), findings);
    for (const LogEvent& event : log->events) report(snapshot, event, log.source(), findings);
    if (!log->incomplete.empty())
        return unread("kernel.log.incomplete", log->incomplete, log.source(), findings);
    if (log->lines == 0) return unread("kernel.log.empty", "no line", log.source(), findings);

    std::string seen = std::to_string(log->lines) + " lines";
    if (log->lost > 0) seen += "; " + std::to_string(log->lost) + " older ones had been overwritten";
    const auto quiet = [&](const Subject& subject) {
        return std::none_of(findings.begin(), findings.end(),
                            [&](const Finding& found) { return found.subject == subject; });
    };
    std::vector<Subject> subjects{Subject()};
    for (const Device& gpu : snapshot.gpus) subjects.emplace_back(gpu.bdf);
    subjects.erase(
        std::remove_if(subjects.begin(), subjects.end(), [&](const Subject& s) { return !quiet(s); }),
        subjects.end());
    for (Subject& subject : subjects) {
        findings.push_back(finding(kId, Verdict::pass, std::move(subject), "no fault in the kernel log", seen,
                                   log.source()));
    }
}

}  // namespace

const Check kKernelLogCheck{.id = kId,
                            .title = "Kernel log",
                            .impact = Impact::passive,
                            .required_from = Profile::boot,
                            .applies = nullptr,
                            .judge = judge};

}  // namespace gpucheck
