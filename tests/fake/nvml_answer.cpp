// Handles, return codes and the order of events in one call of the fake NVML.
#include "nvml_answer.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "agent/vendor/nvml_decode.h"

namespace fake {
namespace {

constexpr std::uintptr_t kHandleStep = 64;

/// The value, which may be an error: {"error": "NO_PERMISSION"}.
Return give(const Gpu* gpu, const std::string& call, const std::string& arguments,
            const std::function<bool(const Json&)>& write) {
    const Json* found = find_value(gpu, call, arguments);
    if (found == nullptr) return kNotSupported;
    const Json value = resolve_value(gpu, call + arguments, *found);
    if (value.is_object() && value.contains("error")) return code_of(value["error"]);
    if (write(value)) return kSuccess;
    std::fprintf(stderr, "fake driver: the value of %s%s is of the wrong kind\n", call.c_str(),
                 arguments.c_str());
    _exit(98);
}

}  // namespace

Device handle_of(const Gpu& gpu) {
    return reinterpret_cast<Device>((gpu.index + 1) * kHandleStep);
}

Gpu* gpu_of(Device device) {
    const auto number = reinterpret_cast<std::uintptr_t>(device);
    if (number == 0 || number % kHandleStep != 0) return nullptr;
    const std::size_t index = number / kHandleStep - 1;
    auto& gpus = scenario().gpus;
    return index < gpus.size() ? &gpus[index] : nullptr;
}

Return code_of(const std::string& name) {
    for (Return code = 0; code < 1000; ++code) {
        if (name_of(code) == name) return code;
    }
    std::fprintf(stderr, "fake driver: no return code %s\n", name.c_str());
    _exit(97);
}

Return answer(Gpu* gpu, const std::string& call, const std::string& arguments,
              const std::vector<Region>& regions, const std::function<bool(const Json&)>& write) {
    const Fault* fault = fault_of(call, gpu);
    if (fault != nullptr) {
        harm(fault->what);
        if (fault->what == "error") return code_of(fault->code);
    }
    if (gpu != nullptr && gpu->lost_after > 0 && ++gpu->calls > gpu->lost_after) return kGpuIsLost;
    if (fault != nullptr && spoil(*fault, regions)) return kSuccess;
    return give(gpu, call, arguments, write);
}

Return answer(Device device, const std::string& call, const std::string& arguments,
              const std::vector<Region>& regions, const std::function<bool(const Json&)>& write) {
    Gpu* gpu = gpu_of(device);
    if (gpu == nullptr) return kInvalidArgument;
    return answer(gpu, call, arguments, regions, write);
}

Return text(Gpu* gpu, const std::string& call, char* buffer, std::size_t size) {
    Return result = kSuccess;
    const Return code = answer(gpu, call, "", {{buffer, size}}, [&](const Json& value) {
        if (!value.is_string()) return false;
        const std::string found = value;
        if (found.size() + 1 > size) {
            result = kInsufficientSize;
        } else {
            std::memcpy(buffer, found.c_str(), found.size() + 1);
        }
        return true;
    });
    return code == kSuccess ? result : code;
}

}  // namespace fake
