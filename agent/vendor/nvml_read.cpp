// Reads NVML for all GPUs at once, each in a child of its own, so that one GPU that hangs its driver neither
// delays nor darkens the others.
#include "agent/child/child.h"
#include "agent/vendor/nvml_lines.h"
#include "agent/vendor/nvml_session.h"
#include "agent/vendor/telemetry.h"

namespace gpucheck::vendor {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";

child::Task system_task(const LibrarySource& libraries) {
    return {"NVML", [libraries](child::Reporter& reporter) {
                std::string path;
                auto opened = nvml::open_session(reporter, libraries, path);
                if (auto* session = std::get_if<nvml::Session>(&opened)) {
                    session->tell("library", Fact<std::string>(path, kSoname));
                    nvml::read_system(*session);
                } else {
                    nvml::Session(reporter, {}).tell(nvml::kRest, Fact<bool>(std::get<Missing>(opened)));
                }
            }};
}

using ReadGpu = void (*)(nvml::Session&, const std::string& address);

child::Task gpu_task(const LibrarySource& libraries, const std::string& address, ReadGpu read) {
    return {"NVML " + address, [libraries, address, read](child::Reporter& reporter) {
                std::string path;
                auto opened = nvml::open_session(reporter, libraries, path);
                if (auto* session = std::get_if<nvml::Session>(&opened)) {
                    read(*session, address);
                } else {
                    nvml::Session(reporter, {}).tell(nvml::kRest, Fact<bool>(std::get<Missing>(opened)));
                }
            }};
}

/// Why the facts are missing that a child did not tell.
Missing untold(const child::Outcome& outcome, const child::Limits& limits) {
    using Kind = child::Outcome::Kind;
    const std::string source = outcome.last_step.empty() ? kSoname : outcome.last_step;
    const std::string detail = child::detail_of(outcome, limits);
    switch (outcome.kind) {
        case Kind::finished:
            return {source, "not told"};
        case Kind::hangs:
        case Kind::unkillable:
            return {source, "did not return within " + std::to_string(limits.deadline.count()) + " ms"};
        case Kind::crashed:
            return {source, "crashed: " + detail};
        case Kind::exited:
            return {source, "ended its process: " + detail};
        default:
            return {source, std::string(child::name_of(outcome.kind)) + ": " + detail};
    }
}

VendorTrouble trouble(const child::Outcome& outcome, const child::Limits& limits, const std::string& device) {
    VendorTrouble trouble;
    trouble.library = kSoname;
    trouble.call = outcome.last_step;
    trouble.device = device;
    trouble.outcome = child::name_of(outcome.kind);
    trouble.detail = child::detail_of(outcome, limits);
    return trouble;
}

NvidiaTelemetry& reading_of(Device& gpu, bool again) {
    return again ? gpu.telemetry.last.nvidia : gpu.telemetry.first.nvidia;
}

void read_all(const TelemetryOptions& options, Snapshot& snapshot, bool again, ReadGpu read) {
    const bool system_too = !again && read == nvml::read_gpu;
    std::vector<Device*> gpus;
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::nvidia) gpus.push_back(&gpu);
    }
    if (gpus.empty()) return;
    if (!options.libraries.allowed) {
        const Missing missing{kSoname, "not looked at"};
        if (system_too) nvml::Told({}).fill(snapshot.host.nvml, missing);
        for (Device* gpu : gpus) nvml::Told({}).fill(reading_of(*gpu, again), missing);
        return;
    }

    child::Limits limits;
    limits.deadline = options.deadline;
    std::vector<child::Task> tasks;
    for (const Device* gpu : gpus) tasks.push_back(gpu_task(options.libraries, gpu->bdf.str(), read));
    if (system_too) tasks.push_back(system_task(options.libraries));
    const std::vector<child::Outcome> outcomes = child::run_all(tasks, limits);

    std::vector<VendorTrouble> troubles;
    if (snapshot.host.vendor_troubles.known()) troubles = *snapshot.host.vendor_troubles;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const child::Outcome& outcome = outcomes[i];
        const bool system = i == gpus.size();
        const nvml::Told told(outcome.lines);
        if (system) {
            told.fill(snapshot.host.nvml, untold(outcome, limits));
        } else {
            told.fill(reading_of(*gpus[i], again), untold(outcome, limits));
        }
        if (outcome.kind != child::Outcome::Kind::finished) {
            troubles.push_back(trouble(outcome, limits, system ? "" : gpus[i]->bdf.str()));
        }
    }
    snapshot.host.vendor_troubles = Fact<std::vector<VendorTrouble>>(std::move(troubles), kSoname);
}

}  // namespace

void read_nvml(const TelemetryOptions& options, Snapshot& snapshot, bool again) {
    read_all(options, snapshot, again, nvml::read_gpu);
}

void read_nvml_presence(const TelemetryOptions& options, Snapshot& snapshot) {
    read_all(options, snapshot, false, nvml::read_presence);
}

}  // namespace gpucheck::vendor
