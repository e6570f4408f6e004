// Reads the "compute" part of scenario.json; see README.md.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "checks/model/bdf.h"
#include "tests/fake/fake_gpu.h"
#include "tests/fake/harm.h"

namespace gpucheck::fake {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, kernels::kMatrixTypes> kTypes{"f64",  "tf32", "f16",  "bf16", "e4m3",
                                                                "e5m2", "i8",   "e2m3", "e3m2", "e2m1"};
constexpr std::array<const char*, kPaths> kPathNames{"memory", "to_device", "to_host", "peer"};

void only(const Json& json, const std::set<std::string>& known) {
    if (!json.is_object()) refuse("no object: " + json.dump());
    for (const auto& member : json.items()) {
        if (!known.contains(member.key())) refuse("nobody knows '" + member.key() + "' of " + json.dump());
    }
}

Fault fault_of(const Json& json) {
    only(json, {"kind", "gpu", "call", "kernel", "after", "address", "bit", "value", "unit", "lane",
                "element", "error", "ms", "once"});
    Fault fault;
    fault.kind = json.at("kind");
    fault.gpu = json.value("gpu", "");
    fault.call = json.value("call", "");
    fault.kernel = json.value("kernel", "");
    fault.after = json.value("after", std::uint64_t{0});
    fault.address = json.value("address", std::uint64_t{0});
    fault.bit = json.value("bit", 0U);
    fault.value = json.value("value", false);
    if (json.contains("unit")) fault.unit = json["unit"].get<unsigned>();
    if (json.contains("lane")) fault.lane = json["lane"].get<unsigned>();
    if (json.contains("element")) fault.element = json["element"].get<unsigned>();
    fault.error = json.value("error", 719);
    fault.ms = json.value("ms", 0U);
    fault.once = json.value("once", false);
    const std::set<std::string> of_calls{"error", "lost", "slow", "flip_copy"};
    const std::set<std::string> others{"stuck_bit", "flip_bit", "lane", "flip_lane", "nan", "skip"};
    const bool by_call = of_calls.contains(fault.kind) || ::fake::is_harm(fault.kind);
    if (!by_call && !others.contains(fault.kind)) refuse("no fault: " + json.dump());
    if (by_call && fault.call.empty()) refuse("of which call? " + json.dump());
    return fault;
}

/// "rate": one share for all, or one each.
double rate_of(const Json& gpu, const std::string& what) {
    const Json rate = gpu.value("rate", Json(1.0));
    if (rate.is_number()) return rate;
    only(rate, {"memory", "matrix", "to_device", "to_host", "peer"});
    return rate.value(what, 1.0);
}

std::optional<Figures> figures_of(const Json& gpu) {
    if (!gpu.contains("clock")) return std::nullopt;
    const Json& clock = gpu["clock"];
    only(clock, {"memory_gb_s", "to_device_gb_s", "to_host_gb_s", "peer_gb_s", "matrix_tflops", "jitter"});
    Figures figures;
    for (std::size_t i = 0; i < kPaths; ++i) {
        const double declared = clock.at(std::string(kPathNames[i]) + "_gb_s");
        figures.gb_s[i] = declared * rate_of(gpu, kPathNames[i]);
        if (!(figures.gb_s[i] > 0)) refuse("no speed: " + clock.dump());
    }
    const Json matrix = clock.value("matrix_tflops", Json::object());
    only(matrix, {kTypes.begin(), kTypes.end()});
    for (std::size_t i = 0; i < kTypes.size(); ++i)
        figures.tera[i] = matrix.value(kTypes[i], 0.0) * rate_of(gpu, "matrix");
    figures.jitter = clock.value("jitter", 0.0);
    return figures;
}

GpuDescription description_of(const Json& json) {
    only(json, {"bdf", "vendor", "architecture", "name", "units", "memory_bytes", "clock_mhz", "hidden",
                "clock", "rate"});
    GpuDescription gpu;
    gpu.bdf = json.at("bdf");
    gpu.vendor = json.value("vendor", "nvidia");
    gpu.architecture = json.value("architecture", gpu.vendor == "amd" ? "gfx942" : "sm_90");
    gpu.name = json.value("name", "fake " + gpu.architecture);
    gpu.units = json.value("units", gpu.units);
    gpu.memory_bytes = json.value("memory_bytes", gpu.memory_bytes);
    gpu.clock_mhz = json.value("clock_mhz", gpu.clock_mhz);
    gpu.hidden = json.value("hidden", false);
    gpu.figures = figures_of(json);
    return gpu;
}

std::string scenario_path() {
    if (const char* path = std::getenv("GPUCHECK_FAKE_SCENARIO")) return path;
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&scenario_path), &info) == 0 || info.dli_fname == nullptr)
        refuse("where am I?");
    const std::string library = info.dli_fname;
    return library.substr(0, library.rfind('/') + 1) + "scenario.json";
}

/// The GPUs that "compute" describes; without it those that the fake NVML lists, small ones of Hopper's kind.
/// "each" holds what they have in common.
std::vector<GpuDescription> descriptions_in(const Json& scenario, const Json& compute) {
    Json listed = compute.value("gpus", Json::array());
    if (!compute.contains("gpus")) {
        for (const Json& each : scenario.value("gpus", Json::array()))
            listed.push_back({{"bdf", each.at("at")}, {"hidden", each.value("hidden", false)}});
    }
    std::vector<GpuDescription> gpus;
    for (const Json& own : listed) {
        Json whole = compute.value("each", Json::object());
        whole.update(own);
        gpus.push_back(description_of(whole));
    }
    return gpus;
}

std::vector<std::unique_ptr<FakeGpu>> read_gpus(const std::string& vendor) {
    std::vector<std::unique_ptr<FakeGpu>> result;
    const std::string path = scenario_path();
    std::ifstream file(path);
    const Json scenario = Json::parse(file, nullptr, false);
    if (!scenario.is_object()) refuse(path + " is no JSON object");
    const Json compute = scenario.value("compute", Json::object());
    only(compute, {"gpus", "each", "faults"});
    for (GpuDescription& gpu : descriptions_in(scenario, compute)) {
        if (gpu.vendor != vendor || gpu.hidden) continue;
        std::vector<Fault> faults;
        for (const Json& one : compute.value("faults", Json::array())) {
            Fault fault = fault_of(one);
            if (fault.gpu.empty() || fault.gpu == gpu.bdf) faults.push_back(std::move(fault));
        }
        result.push_back(std::make_unique<FakeGpu>(std::move(gpu), std::move(faults)));
    }
    return result;
}

}  // namespace

void refuse(const std::string& why) {
    std::fprintf(stderr, "fake driver: %s\n", why.c_str());
    ::_exit(99);
}

std::vector<std::unique_ptr<FakeGpu>>& gpus(const char* vendor) {
    // Never destroyed, as a vendor library's state never is.
    static auto& found = *[&] {
        try {
            return new std::vector<std::unique_ptr<FakeGpu>>(read_gpus(vendor));
        } catch (const nlohmann::json::exception& error) {
            refuse(error.what());
        }
    }();
    return found;
}

}  // namespace gpucheck::fake
