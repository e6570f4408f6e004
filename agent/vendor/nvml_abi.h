// NVML's binary interface, declared by hand, so that a GPU's health can be read on a machine where neither
// CUDA nor a driver's headers were ever installed.
//
// Names follow nvml.h without its prefix; layouts hold for every driver since 450. tests/nvml/header_test.cpp
// compares them with the real nvml.h where one is installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpucheck::vendor::nvml {

using Device = struct DeviceHandle*;
using Return = unsigned int;  ///< an enum in nvml.h; newer drivers add values, so a number here

enum : Return {
    kSuccess = 0,
    kUninitialized = 1,
    kInvalidArgument = 2,
    kNotSupported = 3,
    kNoPermission = 4,
    kNotFound = 6,
    kInsufficientSize = 7,
    kDriverNotLoaded = 9,
    kCorruptedInforom = 14,
    kGpuIsLost = 15,
    kResetRequired = 16,
    kLibRmVersionMismatch = 18,
    kArgumentVersionMismatch = 25,
    kGpuNotFound = 28,
    kUnknown = 999,
};

inline constexpr unsigned kInitNoAttach = 2;  ///< NVML_INIT_FLAG_NO_ATTACH: a GPU is attached when first used

/// First member of structs that carry their own version.
constexpr unsigned struct_version(std::size_t size, unsigned version) {
    return static_cast<unsigned>(size) | (version << 24);
}

struct PciInfo {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, bus_id) == 36);

struct ExcludedDeviceInfo {
    PciInfo pci;
    char uuid[80];
};
static_assert(sizeof(ExcludedDeviceInfo) == 148);

union Value {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_signed_long_long;
    int as_signed;
    unsigned short as_unsigned_short;
};
enum ValueType : unsigned {
    kDouble = 0,
    kUnsigned = 1,
    kUnsignedLong = 2,
    kUnsignedLongLong = 3,
    kSignedLongLong = 4,
    kSigned = 5,
    kUnsignedShort = 6,
};
struct FieldValue {
    unsigned field_id, scope_id;
    long long timestamp_us, latency_us;
    unsigned value_type;
    Return result;
    Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value_type) == 24 &&
              offsetof(FieldValue, value) == 32);

struct Utilization {
    unsigned gpu, memory;
};
static_assert(sizeof(Utilization) == 8);

struct Memory {
    unsigned long long total, free, used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, total) == 8);

/// nvmlDeviceAttributes_t: what a MIG device (or the whole GPU) consists of.
struct Attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
    unsigned long long memory_mib;
};
static_assert(sizeof(Attributes) == 40);

struct FabricInfoV1 {
    unsigned char cluster_uuid[16];
    Return status;
    unsigned clique_id;
    unsigned char state;
};
static_assert(sizeof(FabricInfoV1) == 28);

/// Versions 2 and 3 of nvmlGpuFabricInfoV_t; version 2 ends before health_summary.
struct FabricInfoV {
    unsigned version;
    unsigned char cluster_uuid[16];
    Return status;
    unsigned clique_id;
    unsigned char state;
    unsigned health_mask;
    unsigned char health_summary;
};
inline constexpr std::size_t kFabricInfoV2Bytes = 36;
static_assert(sizeof(FabricInfoV) == 40 && offsetof(FabricInfoV, status) == 20 &&
              offsetof(FabricInfoV, health_mask) == 32 && offsetof(FabricInfoV, health_summary) == 36);

struct SramEccErrorStatus {
    unsigned version;
    unsigned long long aggregate_unc_parity, aggregate_unc_secded, aggregate_cor, volatile_unc_parity,
        volatile_unc_secded, volatile_cor, bucket_l2, bucket_sm, bucket_pcie, bucket_mcu, bucket_other;
    unsigned threshold_exceeded;
};
static_assert(sizeof(SramEccErrorStatus) == 104 && offsetof(SramEccErrorStatus, aggregate_unc_parity) == 8 &&
              offsetof(SramEccErrorStatus, threshold_exceeded) == 96);

struct RowRemapperHistogram {
    unsigned max, high, partial, low, none;
};
static_assert(sizeof(RowRemapperHistogram) == 20);

struct RepairStatus {
    unsigned version, channel_repair_pending, tpc_repair_pending;
};
static_assert(sizeof(RepairStatus) == 12);

/// nvmlDeviceGetUnrepairableMemoryFlag_v1. nvml.h 13 declares the flag alone, DCGM's copy a version before
/// it: the words tell which one the driver wrote (see decode_unrepairable).
struct UnrepairableMemory {
    unsigned words[16];
};

struct Temperature {
    unsigned version, sensor;
    int temperature;
};
static_assert(sizeof(Temperature) == 12);

struct MarginTemperature {
    unsigned version;
    int margin;
};
static_assert(sizeof(MarginTemperature) == 8);

struct ConfComputeState {
    unsigned environment, cc_feature, dev_tools_mode;
};
static_assert(sizeof(ConfComputeState) == 12);

struct ConfComputeSettings {
    unsigned version, environment, cc_feature, dev_tools_mode, multi_gpu_mode;
};
static_assert(sizeof(ConfComputeSettings) == 20);

// Arguments.
enum : unsigned { kCorrected = 0, kUncorrected = 1 };                           // nvmlMemoryErrorType_t
enum : unsigned { kVolatile = 0, kAggregate = 1 };                              // nvmlEccCounterType_t
enum : unsigned { kLocationDram = 2, kLocationSram = 7 };                       // nvmlMemoryLocation_t
enum : unsigned { kClockSm = 1, kClockMemory = 2 };                             // nvmlClockType_t
enum : unsigned { kShutdown = 0, kSlowdown = 1, kMemoryMax = 2, kGpuMax = 3 };  // nvmlTemperatureThresholds_t
enum : unsigned {
    kLinkReplay = 0,
    kLinkRecovery = 1,
    kLinkCrc = 2,
    kLinkEcc = 4
};  // nvmlNvLinkErrorCounter_t

// Field ids of nvmlDeviceGetFieldValues.
enum Field : unsigned {
    kRetiredSbe = 29,
    kRetiredDbe = 30,
    kRetiredPending = 31,
    kPolicyPower = 74,
    kPolicyThermal = 75,
    kPolicySyncBoost = 76,
    kPolicyBoardLimit = 77,
    kMemoryTemperature = 82,
    kLinkCount = 91,
    kPcieReplayRollover = 95,
    kLinkSpeed = 164,
    kPcieL0ToRecovery = 169,
    kC2cCount = 170,
    kC2cStatus = 171,
    kPcieCorrectable = 173,
    kPcieNaksReceived = 174,
    kPcieNaksSent = 177,
    kPcieNonfatal = 179,
    kPcieFatal = 180,
    kLinkMalformed = 206,
    kLinkOverrun = 207,
    kLinkReceive = 208,
    kLinkIntegrity = 211,
    kLinkRecoveredOk = 213,
    kLinkRecoveredFailed = 214,
    kLinkEffectiveBer = 220,
    kLinkSymbolBer = 222,
    kRecoveryAction = 230,
    // nvml.h 12.9 numbers the throttle counters 251 to 253, nvml.h 12.8 and 13.0 use those for power
    // smoothing and 13.0 puts the counters at 269 to 271, which 12.9 uses for power smoothing.
    kSwThermal129 = 251,
    kHwThermal129 = 252,
    kPowerBrake129 = 253,
    kSwThermal = 269,
    kHwThermal = 270,
    kPowerBrake = 271,
};

}  // namespace gpucheck::vendor::nvml
