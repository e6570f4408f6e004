// Every NVML function that gpucheck calls, in one list: what is not here cannot be called, and nothing here
// sets, clears or resets anything on somebody's GPU.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agent/vendor/library.h"
#include "agent/vendor/nvml_abi.h"
#include "checks/model/fact.h"

// X(member, need, (arguments), names newest first)
#define GPUCHECK_NVML_CALLS(X)                                                                             \
    /* the library */                                                                                      \
    X(init_with_flags, optional, (unsigned), nvmlInitWithFlags)                                            \
    X(init, required, (), nvmlInit_v2, nvmlInit)                                                           \
    X(driver_version, optional, (char*, unsigned), nvmlSystemGetDriverVersion)                             \
    X(nvml_version, optional, (char*, unsigned), nvmlSystemGetNVMLVersion)                                 \
    X(cuda_version, optional, (int*), nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetCudaDriverVersion)   \
    X(device_count, required, (unsigned*), nvmlDeviceGetCount_v2, nvmlDeviceGetCount)                      \
    X(handle_by_index, required, (unsigned, Device*), nvmlDeviceGetHandleByIndex_v2,                       \
      nvmlDeviceGetHandleByIndex)                                                                          \
    X(handle_by_bus_id, required, (const char*, Device*), nvmlDeviceGetHandleByPciBusId_v2,                \
      nvmlDeviceGetHandleByPciBusId)                                                                       \
    X(pci_info, required, (Device, PciInfo*), nvmlDeviceGetPciInfo_v3, nvmlDeviceGetPciInfo_v2)            \
    X(excluded_count, optional, (unsigned*), nvmlGetExcludedDeviceCount, nvmlGetBlacklistDeviceCount)      \
    X(excluded_info, optional, (unsigned, ExcludedDeviceInfo*), nvmlGetExcludedDeviceInfoByIndex,          \
      nvmlGetBlacklistDeviceInfoByIndex)                                                                   \
    X(cc_settings, optional, (ConfComputeSettings*), nvmlSystemGetConfComputeSettings)                     \
    X(cc_state, optional, (ConfComputeState*), nvmlSystemGetConfComputeState)                              \
    X(cc_ready, optional, (unsigned*), nvmlSystemGetConfComputeGpusReadyState)                             \
    /* identity */                                                                                         \
    X(name, optional, (Device, char*, unsigned), nvmlDeviceGetName)                                        \
    X(uuid, optional, (Device, char*, unsigned), nvmlDeviceGetUUID)                                        \
    X(serial, optional, (Device, char*, unsigned), nvmlDeviceGetSerial)                                    \
    X(vbios, optional, (Device, char*, unsigned), nvmlDeviceGetVbiosVersion)                               \
    X(inforom_image, optional, (Device, char*, unsigned), nvmlDeviceGetInforomImageVersion)                \
    X(gsp_firmware, optional, (Device, char*), nvmlDeviceGetGspFirmwareVersion)                            \
    X(minor, optional, (Device, unsigned*), nvmlDeviceGetMinorNumber)                                      \
    X(attributes, optional, (Device, Attributes*), nvmlDeviceGetAttributes_v2)                             \
    X(memory_v2, optional, (Device, MemoryV2*), nvmlDeviceGetMemoryInfo_v2)                                \
    X(memory, optional, (Device, Memory*), nvmlDeviceGetMemoryInfo)                                        \
    /* state */                                                                                            \
    X(persistence, optional, (Device, unsigned*), nvmlDeviceGetPersistenceMode)                            \
    X(compute_mode, optional, (Device, unsigned*), nvmlDeviceGetComputeMode)                               \
    X(virtualization, optional, (Device, unsigned*), nvmlDeviceGetVirtualizationMode)                      \
    X(mig_mode, optional, (Device, unsigned*, unsigned*), nvmlDeviceGetMigMode)                            \
    X(mig_max, optional, (Device, unsigned*), nvmlDeviceGetMaxMigDeviceCount)                              \
    X(mig_handle, optional, (Device, unsigned, Device*), nvmlDeviceGetMigDeviceHandleByIndex)              \
    X(validate_inforom, optional, (Device), nvmlDeviceValidateInforom)                                     \
    X(compute_processes, optional, (Device, unsigned*, void*), nvmlDeviceGetComputeRunningProcesses_v3,    \
      nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses)                       \
    X(graphics_processes, optional, (Device, unsigned*, void*), nvmlDeviceGetGraphicsRunningProcesses_v3,  \
      nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses)                     \
    X(field_values, optional, (Device, int, FieldValue*), nvmlDeviceGetFieldValues)                        \
    /* ECC and repair */                                                                                   \
    X(ecc_mode, optional, (Device, unsigned*, unsigned*), nvmlDeviceGetEccMode)                            \
    X(ecc_default, optional, (Device, unsigned*), nvmlDeviceGetDefaultEccMode)                             \
    X(ecc_total, optional, (Device, unsigned, unsigned, unsigned long long*), nvmlDeviceGetTotalEccErrors) \
    X(ecc_at, optional, (Device, unsigned, unsigned, unsigned, unsigned long long*),                       \
      nvmlDeviceGetMemoryErrorCounter)                                                                     \
    X(sram_status, optional, (Device, SramEccErrorStatus*), nvmlDeviceGetSramEccErrorStatus)               \
    X(remapped_rows, optional, (Device, unsigned*, unsigned*, unsigned*, unsigned*),                       \
      nvmlDeviceGetRemappedRows)                                                                           \
    X(remap_histogram, optional, (Device, RowRemapperHistogram*), nvmlDeviceGetRowRemapperHistogram)       \
    X(unrepairable, optional, (Device, UnrepairableMemory*), nvmlDeviceGetUnrepairableMemoryFlag_v1)       \
    X(repair_status, optional, (Device, RepairStatus*), nvmlDeviceGetRepairStatus)                         \
    /* links */                                                                                            \
    X(link_state, optional, (Device, unsigned, unsigned*), nvmlDeviceGetNvLinkState)                       \
    X(link_version, optional, (Device, unsigned, unsigned*), nvmlDeviceGetNvLinkVersion)                   \
    X(link_remote, optional, (Device, unsigned, PciInfo*), nvmlDeviceGetNvLinkRemotePciInfo_v2)            \
    X(link_remote_type, optional, (Device, unsigned, unsigned*), nvmlDeviceGetNvLinkRemoteDeviceType)      \
    X(link_errors, optional, (Device, unsigned, unsigned, unsigned long long*),                            \
      nvmlDeviceGetNvLinkErrorCounter)                                                                     \
    X(fabric_v, optional, (Device, FabricInfoV*), nvmlDeviceGetGpuFabricInfoV)                             \
    X(fabric, optional, (Device, FabricInfoV1*), nvmlDeviceGetGpuFabricInfo)                               \
    X(pcie_generation, optional, (Device, unsigned*), nvmlDeviceGetCurrPcieLinkGeneration)                 \
    X(pcie_width, optional, (Device, unsigned*), nvmlDeviceGetCurrPcieLinkWidth)                           \
    X(pcie_generation_max, optional, (Device, unsigned*), nvmlDeviceGetMaxPcieLinkGeneration)              \
    X(pcie_width_max, optional, (Device, unsigned*), nvmlDeviceGetMaxPcieLinkWidth)                        \
    X(pcie_generation_device, optional, (Device, unsigned*), nvmlDeviceGetGpuMaxPcieLinkGeneration)        \
    X(pcie_replays, optional, (Device, unsigned*), nvmlDeviceGetPcieReplayCounter)                         \
    /* clocks, power, temperature */                                                                       \
    X(pstate, optional, (Device, unsigned*), nvmlDeviceGetPerformanceState)                                \
    X(clock, optional, (Device, unsigned, unsigned*), nvmlDeviceGetClockInfo)                              \
    X(clock_max, optional, (Device, unsigned, unsigned*), nvmlDeviceGetMaxClockInfo)                       \
    X(clock_application, optional, (Device, unsigned, unsigned*), nvmlDeviceGetApplicationsClock)          \
    X(event_reasons, optional, (Device, unsigned long long*), nvmlDeviceGetCurrentClocksEventReasons,      \
      nvmlDeviceGetCurrentClocksThrottleReasons)                                                           \
    X(event_reasons_supported, optional, (Device, unsigned long long*),                                    \
      nvmlDeviceGetSupportedClocksEventReasons, nvmlDeviceGetSupportedClocksThrottleReasons)               \
    X(power, optional, (Device, unsigned*), nvmlDeviceGetPowerUsage)                                       \
    X(power_limit, optional, (Device, unsigned*), nvmlDeviceGetPowerManagementLimit)                       \
    X(power_enforced, optional, (Device, unsigned*), nvmlDeviceGetEnforcedPowerLimit)                      \
    X(power_default, optional, (Device, unsigned*), nvmlDeviceGetPowerManagementDefaultLimit)              \
    X(power_constraints, optional, (Device, unsigned*, unsigned*),                                         \
      nvmlDeviceGetPowerManagementLimitConstraints)                                                        \
    X(energy, optional, (Device, unsigned long long*), nvmlDeviceGetTotalEnergyConsumption)                \
    X(temperature_v, optional, (Device, Temperature*), nvmlDeviceGetTemperatureV)                          \
    X(temperature, optional, (Device, unsigned, unsigned*), nvmlDeviceGetTemperature)                      \
    X(margin, optional, (Device, MarginTemperature*), nvmlDeviceGetMarginTemperature)                      \
    X(threshold, optional, (Device, unsigned, unsigned*), nvmlDeviceGetTemperatureThreshold)               \
    X(fan, optional, (Device, unsigned*), nvmlDeviceGetFanSpeed)                                           \
    X(utilization, optional, (Device, Utilization*), nvmlDeviceGetUtilizationRates)

namespace gpucheck::vendor::nvml {

enum class Need { required, optional };

/// One function: null when the library lacks it under every name.
template <class Signature>
struct Call {
    Signature* function = nullptr;
    const char* name = "";  ///< the one that was found, else the newest
};

/// What the library offers.
struct Calls {
#define GPUCHECK_NVML_MEMBER(member, need, arguments, ...) Call<Return arguments> member;
    GPUCHECK_NVML_CALLS(GPUCHECK_NVML_MEMBER)
#undef GPUCHECK_NVML_MEMBER
};

/// Missing: why the library cannot be used; a required function is absent ("required symbol absent").
std::variant<Calls, Missing> resolve(const Library& library);

/// The list as text, for tests: each entry's names, newest first.
struct CallNames {
    std::string member;
    Need need = Need::optional;
    std::vector<std::string> names;
};
std::vector<CallNames> call_names();

}  // namespace gpucheck::vendor::nvml
