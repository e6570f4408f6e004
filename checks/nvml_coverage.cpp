// Finds GPUs that are on the bus and bound to their driver while NVML cannot use them: lost, waiting for a
// reset, without power, or simply not listed. Tools that count with NVML alone never miss them.
#include <algorithm>
#include <array>

#include "checks/all.h"
#include "checks/model/version.h"
#include "checks/telemetry_facts.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "nvml.coverage";
constexpr std::string_view kMismatch = "LIB_RM_VERSION_MISMATCH";

struct Answer {
    std::string_view reason;  ///< how NVML's return code begins
    std::string_view code;
    Verdict verdict;
};
// NVML return codes (nvml.h, nvmlReturn_t). A refusal is no verdict about the GPU; a hang and UNKNOWN are
// none either, and stay `telemetry.unread`.
constexpr std::array kAnswers{
    Answer{"GPU_IS_LOST", "nvml.gpu.lost", Verdict::fail},
    Answer{"RESET_REQUIRED", "nvml.gpu.reset_required", Verdict::fail},
    Answer{"INSUFFICIENT_POWER", "nvml.gpu.no_power", Verdict::fail},
    Answer{"IRQ_ISSUE", "nvml.gpu.no_interrupt", Verdict::fail},
    Answer{"CORRUPTED_INFOROM", "nvidia.inforom.corrupt", Verdict::fail},
    Answer{"NOT_FOUND", "nvml.gpu.unlisted", Verdict::fail},
    Answer{"GPU_NOT_FOUND", "nvml.gpu.unlisted", Verdict::fail},
    Answer{"not listed", "nvml.gpu.unlisted", Verdict::fail},
    Answer{"NO_PERMISSION", "nvml.gpu.denied", Verdict::unknown},
    Answer{"OPERATING_SYSTEM", "nvml.gpu.blocked", Verdict::unknown},
};

const Answer* answer_for(std::string_view why) {
    const auto found = std::find_if(kAnswers.begin(), kAnswers.end(),
                                    [&](const Answer& answer) { return why.starts_with(answer.reason); });
    return found != kAnswers.end() ? found : nullptr;
}

/// The first fact of a reading that is missing for `reason`: a GPU can be lost between two calls.
template <class T>
const Missing* missing_because(const T& value, std::string_view reason) {
    if constexpr (HasFields<T>) {
        const Missing* found = nullptr;
        const auto look = [&](const auto& member) {
            if (found == nullptr) found = missing_because(member, reason);
        };
        T::fields([&](auto... field) { (look(value.*(field.member)), ...); });
        return found;
    } else if constexpr (requires { value.missing(); }) {
        return !value.known() && value.missing().why.starts_with(reason) ? &value.missing() : nullptr;
    } else {
        return nullptr;
    }
}

Finding judge_gpu(const Device& gpu) {
    const std::string expected = "NVML answers for it";
    for (const NvidiaTelemetry* reading : {&gpu.telemetry.first.nvidia, &gpu.telemetry.last.nvidia}) {
        for (const std::string_view reason : {"GPU_IS_LOST", "RESET_REQUIRED"}) {
            if (const Missing* missing = missing_because(*reading, reason)) {
                const Answer* answer = answer_for(reason);
                return finding(answer->code, answer->verdict, gpu.bdf, expected, missing->why,
                               missing->source);
            }
        }
    }
    const Fact<bool>& first = gpu.telemetry.first.nvidia.identity.handle;
    const Fact<bool>& last = gpu.telemetry.last.nvidia.identity.handle;
    // A second reading that failed is news; one that was not made is none.
    const Fact<bool>& handle = !last.known() && !not_asked(last.missing()) ? last : first;
    if (handle.is(true)) return finding(kId, Verdict::pass, gpu.bdf, expected, "it does", handle.source());
    if (handle.known()) return unread_fact(gpu.bdf, expected, Missing{handle.source(), "no handle"});
    const Answer* answer = answer_for(handle.why());
    if (answer == nullptr) return unread_fact(gpu.bdf, expected, handle.missing());
    return finding(answer->code, answer->verdict, gpu.bdf, expected, handle.why(), handle.source());
}

/// Why NVML as a whole gave nothing.
Finding judge_library(const Fact<std::string>& library) {
    const std::string expected = "NVML loads and starts", why = library.why();
    const auto says = [&](std::string_view word) { return why.find(word) != std::string::npos; };
    if (says(kMismatch)) {
        return finding("driver.library.mismatch", Verdict::fail, "libnvidia-ml.so.1", expected, why,
                       library.source());
    }
    if (says("DRIVER_NOT_LOADED")) {
        return finding("nvml.driver.not_loaded", Verdict::fail, {}, expected, why, library.source());
    }
    if (library.absent() || says("LIBRARY_NOT_FOUND")) {
        return finding("nvml.library.absent", Verdict::unknown, {}, expected, why, library.source());
    }
    for (const Answer& answer : kAnswers) {
        if (answer.verdict == Verdict::unknown && says(answer.reason)) {
            return finding(answer.code, Verdict::unknown, {}, expected, why, library.source());
        }
    }
    return unread_fact({}, expected, library.missing());
}

/// In a container NVML may list all GPUs of the machine or the passed ones only.
void judge_count(const Snapshot& snapshot, const Gpus& usable, Findings& findings) {
    const Fact<unsigned>& count = snapshot.host.nvml.gpu_count;
    const std::size_t least = usable.size(), most = driven_gpus(snapshot, Vendor::nvidia).size();
    const std::string expected = count_of(least, "GPU") + ", as bound on the PCI bus";
    if (!count.known()) {
        findings.push_back(missing_fact(kId, {}, expected, count.missing()));
        return;
    }
    const auto unanswered =
        static_cast<std::size_t>(std::count_if(usable.begin(), usable.end(), [](const Device* gpu) {
            return !gpu->telemetry.first.nvidia.identity.handle.is(true);
        }));
    const std::string observed = count_of(count.value(), "GPU");
    if (count.value() + unanswered < least) {
        findings.push_back(
            finding("nvml.count.short", Verdict::fail, {}, expected, observed, count.source()));
    } else if (count.value() > most) {
        findings.push_back(
            finding("nvml.count.extra", Verdict::unknown, {}, expected, observed, count.source()));
    } else {
        findings.push_back(finding(kId, Verdict::pass, {}, expected, observed, count.source()));
    }
}

void judge_version(const Host& host, Findings& findings) {
    const Fact<std::string>&nvml = host.nvml.driver_version, &module = host.nvidia.version;
    if (!nvml.known() || !module.known()) return;  // driver.version says so
    if (version_is_prefix(nvml.value(), module.value()) || version_is_prefix(module.value(), nvml.value()))
        return;
    findings.push_back(finding("driver.version.contradictory", Verdict::unknown, {}, "one version",
                               nvml.value() + " and " + module.value(),
                               nvml.source() + ", " + module.source()));
}

void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<std::string>& library = snapshot.host.nvml.library;
    const Gpus usable = usable_nvidia(snapshot);
    const bool answered = std::any_of(usable.begin(), usable.end(), [](const Device* gpu) {
        return gpu->telemetry.first.nvidia.identity.handle.known();
    });
    if (!library.known()) findings.push_back(judge_library(library));
    if (!library.known() && !answered) return;
    for (const Device* gpu : usable) findings.push_back(judge_gpu(*gpu));
    judge_count(snapshot, usable, findings);
    judge_version(snapshot.host, findings);
}

}  // namespace

const Check kNvmlCoverageCheck{.id = kId,
                               .title = "NVML answers for every GPU",
                               .impact = Impact::passive,
                               .required_from = Profile::boot,
                               .applies = without_usable_nvidia,
                               .judge = judge};

}  // namespace gpucheck
