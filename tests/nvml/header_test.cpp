// Our hand-made declarations against the real nvml.h, where one is installed: a struct that differs by one
// word shifts every counter behind it.
#include <gtest/gtest.h>

#include "agent/vendor/nvml_abi.h"

#ifdef GPUCHECK_NVML_H
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include GPUCHECK_NVML_H

namespace ours = gpucheck::vendor::nvml;

static_assert(sizeof(ours::PciInfo) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(ours::PciInfo, bus) == offsetof(nvmlPciInfo_t, bus));
static_assert(sizeof(ours::FieldValue) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(ours::FieldValue, result) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(ours::FieldValue, value) == offsetof(nvmlFieldValue_t, value));
static_assert(sizeof(ours::Memory) == sizeof(nvmlMemory_t));
static_assert(sizeof(ours::Utilization) == sizeof(nvmlUtilization_t));
static_assert(sizeof(ours::Attributes) == sizeof(nvmlDeviceAttributes_t));
static_assert(ours::kGpuIsLost == NVML_ERROR_GPU_IS_LOST &&
              ours::kResetRequired == NVML_ERROR_RESET_REQUIRED);
static_assert(ours::kLibRmVersionMismatch == NVML_ERROR_LIB_RM_VERSION_MISMATCH);
static_assert(ours::kMemoryTemperature == NVML_FI_DEV_MEMORY_TEMP &&
              ours::kLinkCount == NVML_FI_DEV_NVLINK_LINK_COUNT);
#if NVML_API_VERSION >= 12
static_assert(ours::struct_version(sizeof(ours::MemoryV2), 2) == nvmlMemory_v2);
static_assert(sizeof(ours::RowRemapperHistogram) == sizeof(nvmlRowRemapperHistogramValues_t));
static_assert(sizeof(ours::ExcludedDeviceInfo) == sizeof(nvmlExcludedDeviceInfo_t));
static_assert(ours::kPcieNaksSent == NVML_FI_DEV_PCIE_COUNT_NAKS_SENT);
#endif
#endif

namespace {

TEST(NvmlHeader, OurDeclarationsMatchTheInstalledOne) {
#ifndef GPUCHECK_NVML_H
    GTEST_SKIP() << "no nvml.h is installed";
#else
    SUCCEED() << "compared when this file was compiled";
#endif
}

}  // namespace
