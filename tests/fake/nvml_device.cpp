// The fake NVML's functions on one GPU whose answers are numbers and texts.
#include <cstdio>
#include <cstring>

#include "nvml_answer.h"

using namespace fake;

#define FAKE_NUMBER(name, type)                         \
    FAKE_EXPORT Return name(Device device, type* out) { \
        return numbers(device, #name, "", out);         \
    }
#define FAKE_TWO(name)                                                          \
    FAKE_EXPORT Return name(Device device, unsigned* first, unsigned* second) { \
        return numbers(device, #name, "", first, second);                       \
    }
/// One argument before the answer: a clock, a sensor, a link.
#define FAKE_TYPED(name)                                                    \
    FAKE_EXPORT Return name(Device device, unsigned which, unsigned* out) { \
        return numbers(device, #name, with(which), out);                    \
    }
#define FAKE_TEXT(name)                                                         \
    FAKE_EXPORT Return name(Device device, char* out, unsigned size) {          \
        Gpu* gpu = gpu_of(device);                                              \
        return gpu == nullptr ? kInvalidArgument : text(gpu, #name, out, size); \
    }
#define FAKE_OLD(old, now, parameters, arguments) \
    FAKE_EXPORT Return old parameters {           \
        return now arguments;                     \
    }

FAKE_TEXT(nvmlDeviceGetName)
FAKE_TEXT(nvmlDeviceGetVbiosVersion)
FAKE_TEXT(nvmlDeviceGetInforomImageVersion)

namespace {

/// Texts that differ from GPU to GPU, where the scenario says nothing.
Return own_text(Device device, const char* call, char* out, unsigned size, const char* format) {
    Gpu* gpu = gpu_of(device);
    if (gpu == nullptr) return kInvalidArgument;
    if (find_value(gpu, call, "") == nullptr) {
        char made[96];
        std::snprintf(made, sizeof made, format, gpu->index + 1);
        gpu->values[call] = made;
    }
    return text(gpu, call, out, size);
}

Return processes(Device device, const char* call, unsigned* count) {
    const unsigned room = *count;
    const Return code = numbers(device, call, "", count);
    return code == kSuccess && *count > room ? kInsufficientSize : code;
}

}  // namespace

FAKE_EXPORT Return nvmlDeviceGetUUID(Device device, char* out, unsigned size) {
    return own_text(device, "nvmlDeviceGetUUID", out, size, "GPU-00000000-0000-4000-8000-%012u");
}
FAKE_EXPORT Return nvmlDeviceGetSerial(Device device, char* out, unsigned size) {
    return own_text(device, "nvmlDeviceGetSerial", out, size, "16530240%05u");
}
FAKE_EXPORT Return nvmlDeviceGetGspFirmwareVersion(Device device, char* out) {
    Gpu* gpu = gpu_of(device);
    return gpu == nullptr ? kInvalidArgument : text(gpu, "nvmlDeviceGetGspFirmwareVersion", out, 64);
}
FAKE_EXPORT Return nvmlDeviceGetMinorNumber(Device device, unsigned* out) {
    Gpu* gpu = gpu_of(device);
    if (gpu != nullptr && find_value(gpu, "nvmlDeviceGetMinorNumber", "") == nullptr)
        gpu->values["nvmlDeviceGetMinorNumber"] = gpu->index;
    return numbers(device, "nvmlDeviceGetMinorNumber", "", out);
}

FAKE_NUMBER(nvmlDeviceGetPersistenceMode, unsigned)
FAKE_NUMBER(nvmlDeviceGetComputeMode, unsigned)
FAKE_NUMBER(nvmlDeviceGetVirtualizationMode, unsigned)
FAKE_TWO(nvmlDeviceGetMigMode)
FAKE_NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned)
FAKE_TWO(nvmlDeviceGetEccMode)
FAKE_NUMBER(nvmlDeviceGetDefaultEccMode, unsigned)
FAKE_TYPED(nvmlDeviceGetNvLinkState)
FAKE_TYPED(nvmlDeviceGetNvLinkVersion)
FAKE_TYPED(nvmlDeviceGetNvLinkRemoteDeviceType)
FAKE_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned)
FAKE_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned)
FAKE_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned)
FAKE_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned)
FAKE_NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned)
FAKE_NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned)
FAKE_NUMBER(nvmlDeviceGetPerformanceState, unsigned)
FAKE_TYPED(nvmlDeviceGetClockInfo)
FAKE_TYPED(nvmlDeviceGetMaxClockInfo)
FAKE_TYPED(nvmlDeviceGetApplicationsClock)
FAKE_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long)
FAKE_OLD(nvmlDeviceGetCurrentClocksThrottleReasons, nvmlDeviceGetCurrentClocksEventReasons,
         (Device device, unsigned long long* out), (device, out))
FAKE_NUMBER(nvmlDeviceGetSupportedClocksEventReasons, unsigned long long)
FAKE_OLD(nvmlDeviceGetSupportedClocksThrottleReasons, nvmlDeviceGetSupportedClocksEventReasons,
         (Device device, unsigned long long* out), (device, out))
FAKE_NUMBER(nvmlDeviceGetPowerUsage, unsigned)
FAKE_NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned)
FAKE_NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned)
FAKE_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned)
FAKE_TWO(nvmlDeviceGetPowerManagementLimitConstraints)
FAKE_NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long)
FAKE_TYPED(nvmlDeviceGetTemperature)
FAKE_TYPED(nvmlDeviceGetTemperatureThreshold)
FAKE_NUMBER(nvmlDeviceGetFanSpeed, unsigned)

FAKE_EXPORT Return nvmlDeviceValidateInforom(Device device) {
    return answer(device, "nvmlDeviceValidateInforom", "", {}, [](const Json& value) { return value == 0; });
}
FAKE_EXPORT Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* out) {
    return answer(device, "nvmlDeviceGetMigDeviceHandleByIndex", with(index), {region(out)},
                  [&](const Json& value) {
                      *out = device;
                      return value.is_number();
                  });
}
FAKE_EXPORT Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count, void*) {
    return processes(device, "nvmlDeviceGetComputeRunningProcesses_v3", count);
}
FAKE_EXPORT Return nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned* count, void*) {
    return processes(device, "nvmlDeviceGetGraphicsRunningProcesses_v3", count);
}
#define FAKE_OLD_PROCESSES(old, now) \
    FAKE_OLD(old, now, (Device device, unsigned* count, void* list), (device, count, list))
FAKE_OLD_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3)
FAKE_OLD_PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlDeviceGetComputeRunningProcesses_v3)
FAKE_OLD_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses_v3)
FAKE_OLD_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlDeviceGetGraphicsRunningProcesses_v3)
