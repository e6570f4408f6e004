// The fake NVML's functions on one GPU whose answers are structs, counters with several arguments, or fields.
#include <cstdlib>
#include <cstring>

#include "nvml_answer.h"

using namespace fake;

namespace {

Return versioned(Device device, const char* call, unsigned version, unsigned wanted, Region out,
                 const std::function<bool(const Json&)>& write) {
    if (version != wanted) return kArgumentVersionMismatch;
    return answer(device, call, "", {out}, write);
}

/// Fields that count nanoseconds or errors are 64 bits wide, temperatures and flags 32.
bool put_field(const Json& value, FieldValue& field) {
    const bool wide = value.is_number_unsigned() && field.field_id != kMemoryTemperature &&
                      field.field_id != kLinkCount && field.field_id != kRecoveryAction &&
                      field.field_id != kLinkSpeed;
    if (value.is_number_float()) {
        field.value_type = kDouble;
        field.value.as_double = value;
    } else if (wide) {
        field.value_type = kUnsignedLongLong;
        return put(value, &field.value.as_unsigned_long_long);
    } else if (value.is_number_unsigned()) {
        field.value_type = kUnsigned;
        return put(value, &field.value.as_unsigned);
    } else if (value.is_object() && value.contains("int")) {
        field.value_type = kSigned;
        return put(value["int"], &field.value.as_signed);
    } else if (value.is_object() && value.contains("uint")) {
        field.value_type = kUnsigned;
        return put(value["uint"], &field.value.as_unsigned);
    } else {
        return false;
    }
    return true;
}

void fill_field(Gpu& gpu, FieldValue& field) {
    const std::string call = "FI " + std::to_string(field.field_id);
    field.value = Value{};
    field.result = answer(&gpu, call, with(field.scope_id), {region(&field.value)},
                          [&](const Json& value) { return put_field(value, field); });
}

bool put_fabric(const Json& value, unsigned char (&uuid)[16], Return& status, unsigned& clique,
                unsigned char& state) {
    const std::string digits = value.value("uuid", std::string(32, '0'));
    for (std::size_t i = 0; i < 16 && 2 * i + 1 < digits.size(); ++i)
        uuid[i] = static_cast<unsigned char>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
    status = code_of(value.value("status", "SUCCESS"));
    clique = value.value("clique", 0U);
    state = static_cast<unsigned char>(value.value("state", 0U));
    return true;
}

}  // namespace

FAKE_EXPORT Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* fields) {
    Gpu* gpu = gpu_of(device);
    if (gpu == nullptr || count < 0 || fields == nullptr) return kInvalidArgument;
    return answer(gpu, "nvmlDeviceGetFieldValues", "",
                  {{fields, sizeof(FieldValue) * static_cast<std::size_t>(count)}}, [&](const Json&) {
                      for (int i = 0; i < count; ++i) fill_field(*gpu, fields[i]);
                      return true;
                  });
}
FAKE_EXPORT Return nvmlDeviceGetAttributes_v2(Device device, Attributes* out) {
    return answer(device, "nvmlDeviceGetAttributes_v2", "", {region(out)}, [&](const Json& value) {
        std::memset(out, 0, sizeof *out);
        return put(value, &out->multiprocessors);
    });
}
FAKE_EXPORT Return nvmlDeviceGetMemoryInfo_v2(Device device, MemoryV2* out) {
    return versioned(device, "nvmlDeviceGetMemoryInfo_v2", out->version, struct_version(sizeof *out, 2),
                     region(out), [&](const Json& value) {
                         const bool good = put(value, &out->total, &out->reserved, &out->used);
                         out->free = out->total - out->reserved - out->used;
                         return good;
                     });
}
FAKE_EXPORT Return nvmlDeviceGetMemoryInfo(Device device, Memory* out) {
    return answer(device, "nvmlDeviceGetMemoryInfo", "", {region(out)},
                  [&](const Json& value) { return put(value, &out->total, &out->free, &out->used); });
}
FAKE_EXPORT Return nvmlDeviceGetTotalEccErrors(Device device, unsigned type, unsigned since,
                                               unsigned long long* out) {
    return numbers(device, "nvmlDeviceGetTotalEccErrors", with(type) + with(since), out);
}
FAKE_EXPORT Return nvmlDeviceGetMemoryErrorCounter(Device device, unsigned type, unsigned since,
                                                   unsigned location, unsigned long long* out) {
    return numbers(device, "nvmlDeviceGetMemoryErrorCounter", with(type) + with(since) + with(location), out);
}
FAKE_EXPORT Return nvmlDeviceGetSramEccErrorStatus(Device device, SramEccErrorStatus* out) {
    return versioned(device, "nvmlDeviceGetSramEccErrorStatus", out->version, struct_version(sizeof *out, 1),
                     region(out), [&](const Json& value) {
                         return put(value, &out->aggregate_unc_parity, &out->aggregate_unc_secded,
                                    &out->aggregate_cor, &out->volatile_unc_parity, &out->volatile_unc_secded,
                                    &out->volatile_cor, &out->threshold_exceeded);
                     });
}
FAKE_EXPORT Return nvmlDeviceGetRemappedRows(Device device, unsigned* corrected, unsigned* uncorrected,
                                             unsigned* pending, unsigned* failure) {
    return numbers(device, "nvmlDeviceGetRemappedRows", "", corrected, uncorrected, pending, failure);
}
FAKE_EXPORT Return nvmlDeviceGetRowRemapperHistogram(Device device, RowRemapperHistogram* out) {
    return answer(device, "nvmlDeviceGetRowRemapperHistogram", "", {region(out)}, [&](const Json& value) {
        return put(value, &out->max, &out->high, &out->partial, &out->low, &out->none);
    });
}
FAKE_EXPORT Return nvmlDeviceGetUnrepairableMemoryFlag_v1(Device device, UnrepairableMemory* out) {
    // Either layout that has been published: {"flag": 0} or {"version_and_flag": 0}.
    return answer(device, "nvmlDeviceGetUnrepairableMemoryFlag_v1", "", {{out, 8}}, [&](const Json& value) {
        if (value.contains("version_and_flag")) return put(value["version_and_flag"], &out->words[1]);
        return value.contains("flag") && put(value["flag"], &out->words[0]);
    });
}
FAKE_EXPORT Return nvmlDeviceGetRepairStatus(Device device, RepairStatus* out) {
    return versioned(device, "nvmlDeviceGetRepairStatus", out->version, struct_version(sizeof *out, 1),
                     region(out), [&](const Json& value) {
                         return put(value, &out->channel_repair_pending, &out->tpc_repair_pending);
                     });
}
FAKE_EXPORT Return nvmlDeviceGetNvLinkErrorCounter(Device device, unsigned link, unsigned counter,
                                                   unsigned long long* out) {
    return numbers(device, "nvmlDeviceGetNvLinkErrorCounter", with(link) + with(counter), out);
}
FAKE_EXPORT Return nvmlDeviceGetGpuFabricInfoV(Device device, FabricInfoV* out) {
    const Gpu* gpu = gpu_of(device);
    const Json* value = gpu != nullptr ? find_value(gpu, "nvmlDeviceGetGpuFabricInfoV", "") : nullptr;
    const unsigned newest = value != nullptr && value->is_object() ? value->value("newest", 3U) : 3U;
    const bool two = out->version == struct_version(kFabricInfoV2Bytes, 2);
    if (!two && (newest < 3 || out->version != struct_version(sizeof *out, 3)))
        return kArgumentVersionMismatch;
    return answer(device, "nvmlDeviceGetGpuFabricInfoV", "", {{out, two ? kFabricInfoV2Bytes : sizeof *out}},
                  [&](const Json& given) {
                      put_fabric(given, out->cluster_uuid, out->status, out->clique_id, out->state);
                      out->health_mask = given.value("mask", 0U);
                      if (!two) out->health_summary = static_cast<unsigned char>(given.value("summary", 0U));
                      return true;
                  });
}
FAKE_EXPORT Return nvmlDeviceGetGpuFabricInfo(Device device, FabricInfoV1* out) {
    return answer(device, "nvmlDeviceGetGpuFabricInfoV", "", {region(out)}, [&](const Json& value) {
        return put_fabric(value, out->cluster_uuid, out->status, out->clique_id, out->state);
    });
}
FAKE_EXPORT Return nvmlDeviceGetTemperatureV(Device device, Temperature* out) {
    return versioned(device, "nvmlDeviceGetTemperatureV", out->version, struct_version(sizeof *out, 1),
                     region(out), [&](const Json& value) { return put(value, &out->temperature); });
}
FAKE_EXPORT Return nvmlDeviceGetMarginTemperature(Device device, MarginTemperature* out) {
    return versioned(device, "nvmlDeviceGetMarginTemperature", out->version, struct_version(sizeof *out, 1),
                     region(out), [&](const Json& value) { return put(value, &out->margin); });
}
FAKE_EXPORT Return nvmlDeviceGetUtilizationRates(Device device, Utilization* out) {
    return answer(device, "nvmlDeviceGetUtilizationRates", "", {region(out)},
                  [&](const Json& value) { return put(value, &out->gpu, &out->memory); });
}
