// How each exported function of the fake NVML answers: faults first, then the value that the scenario holds
// for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/vendor/nvml_abi.h"
#include "faults.h"
#include "scenario.h"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace fake {

using namespace gpucheck::vendor::nvml;

/// nullptr for a handle that this library never gave.
Gpu* gpu_of(Device device);
Device handle_of(const Gpu& gpu);
/// "NOT_SUPPORTED" to 3; unknown names end the process.
Return code_of(const std::string& name);

/// One call: `write` puts the value into the answer and is false when the value is of the wrong kind.
/// Without a value the call is NOT_SUPPORTED.
Return answer(Gpu* gpu, const std::string& call, const std::string& arguments,
              const std::vector<Region>& regions, const std::function<bool(const Json&)>& write);
/// The same for a handle; INVALID_ARGUMENT when it is none.
Return answer(Device device, const std::string& call, const std::string& arguments,
              const std::vector<Region>& regions, const std::function<bool(const Json&)>& write);

/// Text into a buffer of `size` bytes.
Return text(Gpu* gpu, const std::string& call, char* buffer, std::size_t size);

template <class T>
Region region(T* out) {
    return {out, sizeof *out};
}

/// Writes a number, or a list of them, into `outs` in order.
template <class... Out>
bool put(const Json& value, Out*... outs) {
    std::size_t index = 0;
    const bool list = value.is_array();
    if (list && value.size() != sizeof...(Out)) return false;
    const auto one = [&](auto* out) {
        const Json& number = list ? value.at(index++) : value;
        if (number.is_boolean()) {
            *out = static_cast<std::remove_pointer_t<decltype(out)>>(number.get<bool>());
        } else if (number.is_number_unsigned()) {
            *out = static_cast<std::remove_pointer_t<decltype(out)>>(number.get<unsigned long long>());
        } else if (number.is_number_integer()) {
            *out = static_cast<std::remove_pointer_t<decltype(out)>>(number.get<long long>());
        } else {
            return false;
        }
        return true;
    };
    return (one(outs) && ...);
}

/// A call whose answer is numbers.
template <class Handle, class... Out>
Return numbers(Handle handle, const std::string& call, const std::string& arguments, Out*... outs) {
    return answer(handle, call, arguments, {region(outs)...},
                  [&](const Json& value) { return put(value, outs...); });
}

inline std::string with(unsigned argument) {
    return "/" + std::to_string(argument);
}

}  // namespace fake
