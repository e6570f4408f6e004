// The fake NVML's library-wide functions: start, versions, which GPUs there are.
#include <cstdio>
#include <cstring>

#include "checks/model/bdf.h"
#include "nvml_answer.h"

using namespace fake;

namespace {

Gpu* const kSystem = nullptr;

bool put_pci(const std::string& address, PciInfo* info) {
    const auto bdf = gpucheck::Bdf::parse(address);
    if (!bdf) return false;
    std::memset(info, 0, sizeof *info);
    info->domain = bdf->domain;
    info->bus = bdf->bus;
    info->device = bdf->device;
    std::snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:%02X.0", bdf->domain, bdf->bus, bdf->device);
    std::snprintf(info->bus_id_legacy, sizeof info->bus_id_legacy, "%04X:%02X:%02X.0", bdf->domain & 0xffff,
                  bdf->bus, bdf->device);
    return true;
}

std::vector<Gpu*> listed() {
    std::vector<Gpu*> found;
    for (Gpu& gpu : scenario().gpus) {
        if (!gpu.hidden) found.push_back(&gpu);
    }
    return found;
}

/// A call that needs no value in the scenario, unless the scenario has one.
Return usual(Gpu* gpu, const std::string& call, const std::vector<Region>& regions,
             const std::function<Return()>& write) {
    if (find_value(gpu, call, "") != nullptr) {
        return answer(gpu, call, "", regions, [&](const Json& value) {
            if (value.is_number() && regions.size() == 1 && regions[0].size == sizeof(unsigned))
                return put(value, static_cast<unsigned*>(regions[0].data));
            return false;
        });
    }
    const Fault* fault = fault_of(call, gpu);
    if (fault != nullptr) {
        harm(fault->what);
        if (fault->what == "error") return code_of(fault->code);
    }
    if (gpu != nullptr && gpu->lost_after > 0 && ++gpu->calls > gpu->lost_after) return kGpuIsLost;
    const Return code = write();
    if (code == kSuccess && fault != nullptr) spoil(*fault, regions);
    return code;
}

}  // namespace

FAKE_EXPORT Return nvmlInitWithFlags(unsigned) {
    return usual(kSystem, "nvmlInitWithFlags", {}, [] { return kSuccess; });
}
FAKE_EXPORT Return nvmlInit_v2() {
    return usual(kSystem, "nvmlInit_v2", {}, [] { return kSuccess; });
}
FAKE_EXPORT Return nvmlInit() {
    return nvmlInit_v2();
}
FAKE_EXPORT Return nvmlSystemGetDriverVersion(char* out, unsigned size) {
    return text(kSystem, "nvmlSystemGetDriverVersion", out, size);
}
FAKE_EXPORT Return nvmlSystemGetNVMLVersion(char* out, unsigned size) {
    return text(kSystem, "nvmlSystemGetNVMLVersion", out, size);
}
FAKE_EXPORT Return nvmlSystemGetCudaDriverVersion_v2(int* out) {
    return numbers(kSystem, "nvmlSystemGetCudaDriverVersion_v2", "", out);
}
FAKE_EXPORT Return nvmlSystemGetCudaDriverVersion(int* out) {
    return nvmlSystemGetCudaDriverVersion_v2(out);
}
FAKE_EXPORT Return nvmlDeviceGetCount_v2(unsigned* out) {
    return usual(kSystem, "nvmlDeviceGetCount_v2", {region(out)}, [&] {
        *out = static_cast<unsigned>(listed().size());
        return kSuccess;
    });
}
FAKE_EXPORT Return nvmlDeviceGetCount(unsigned* out) {
    return nvmlDeviceGetCount_v2(out);
}
FAKE_EXPORT Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* out) {
    const auto gpus = listed();
    if (index >= gpus.size()) return kInvalidArgument;
    return usual(gpus[index], "nvmlDeviceGetHandleByIndex_v2", {region(out)}, [&] {
        *out = handle_of(*gpus[index]);
        return kSuccess;
    });
}
FAKE_EXPORT Return nvmlDeviceGetHandleByIndex(unsigned index, Device* out) {
    return nvmlDeviceGetHandleByIndex_v2(index, out);
}
FAKE_EXPORT Return nvmlDeviceGetHandleByPciBusId_v2(const char* id, Device* out) {
    const auto bdf = gpucheck::Bdf::parse(id);
    Gpu* gpu = bdf ? scenario().at(bdf->str()) : nullptr;
    if (gpu == nullptr || gpu->hidden) return kNotFound;
    return usual(gpu, "nvmlDeviceGetHandleByPciBusId_v2", {region(out)}, [&] {
        *out = handle_of(*gpu);
        return kSuccess;
    });
}
FAKE_EXPORT Return nvmlDeviceGetHandleByPciBusId(const char* id, Device* out) {
    return nvmlDeviceGetHandleByPciBusId_v2(id, out);
}
FAKE_EXPORT Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* out) {
    Gpu* gpu = gpu_of(device);
    if (gpu == nullptr) return kInvalidArgument;
    return usual(gpu, "nvmlDeviceGetPciInfo_v3", {region(out)},
                 [&] { return put_pci(gpu->address, out) ? kSuccess : kUnknown; });
}
FAKE_EXPORT Return nvmlDeviceGetPciInfo_v2(Device device, PciInfo* out) {
    return nvmlDeviceGetPciInfo_v3(device, out);
}
FAKE_EXPORT Return nvmlGetExcludedDeviceCount(unsigned* out) {
    return usual(kSystem, "nvmlGetExcludedDeviceCount", {region(out)}, [&] {
        *out = static_cast<unsigned>(scenario().excluded.size());
        return kSuccess;
    });
}
FAKE_EXPORT Return nvmlGetBlacklistDeviceCount(unsigned* out) {
    return nvmlGetExcludedDeviceCount(out);
}
FAKE_EXPORT Return nvmlGetExcludedDeviceInfoByIndex(unsigned index, ExcludedDeviceInfo* out) {
    return usual(kSystem, "nvmlGetExcludedDeviceInfoByIndex", {region(out)}, [&] {
        if (index >= scenario().excluded.size()) return kInvalidArgument;
        std::memset(out, 0, sizeof *out);
        return put_pci(scenario().excluded[index], &out->pci) ? kSuccess : kUnknown;
    });
}
FAKE_EXPORT Return nvmlGetBlacklistDeviceInfoByIndex(unsigned index, ExcludedDeviceInfo* out) {
    return nvmlGetExcludedDeviceInfoByIndex(index, out);
}
FAKE_EXPORT Return nvmlSystemGetConfComputeSettings(ConfComputeSettings* out) {
    if (out->version != struct_version(sizeof *out, 1)) return kArgumentVersionMismatch;
    return answer(kSystem, "nvmlSystemGetConfComputeSettings", "", {region(out)}, [&](const Json& value) {
        return put(value, &out->environment, &out->cc_feature, &out->dev_tools_mode, &out->multi_gpu_mode);
    });
}
FAKE_EXPORT Return nvmlSystemGetConfComputeState(ConfComputeState* out) {
    return answer(kSystem, "nvmlSystemGetConfComputeState", "", {region(out)}, [&](const Json& value) {
        return put(value, &out->environment, &out->cc_feature, &out->dev_tools_mode);
    });
}
FAKE_EXPORT Return nvmlSystemGetConfComputeGpusReadyState(unsigned* out) {
    return numbers(kSystem, "nvmlSystemGetConfComputeGpusReadyState", "", out);
}
FAKE_EXPORT Return nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* out) {
    return answer(device, "nvmlDeviceGetNvLinkRemotePciInfo_v2", with(link), {region(out)},
                  [&](const Json& value) { return value.is_string() && put_pci(value, out); });
}
