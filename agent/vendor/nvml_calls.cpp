// Looks up NVML's functions by name, newest first, so that an old driver costs single facts and not the
// reading.
#include "agent/vendor/nvml_calls.h"

namespace gpucheck::vendor::nvml {
namespace {

// "a, b" -> {"a", "b"}: up to three names.
#define GPUCHECK_TEXT(name) #name
#define GPUCHECK_NAMES_1(a) \
    { GPUCHECK_TEXT(a) }
#define GPUCHECK_NAMES_2(a, b) \
    { GPUCHECK_TEXT(a), GPUCHECK_TEXT(b) }
#define GPUCHECK_NAMES_3(a, b, c) \
    { GPUCHECK_TEXT(a), GPUCHECK_TEXT(b), GPUCHECK_TEXT(c) }
#define GPUCHECK_PICK(a, b, c, chosen, ...) chosen
#define GPUCHECK_NAMES(...) \
    GPUCHECK_PICK(__VA_ARGS__, GPUCHECK_NAMES_3, GPUCHECK_NAMES_2, GPUCHECK_NAMES_1, )(__VA_ARGS__)

template <class Signature>
bool find(const Library& library, Call<Signature>& call, std::initializer_list<const char*> names) {
    call.name = *names.begin();
    for (const char* name : names) {
        void* found = library.symbol(name);
        if (found == nullptr) continue;
        call.function = reinterpret_cast<Signature*>(found);
        call.name = name;
        return true;
    }
    return false;
}

}  // namespace

std::variant<Calls, Missing> resolve(const Library& library) {
    Calls calls;
#define GPUCHECK_NVML_FIND(member, need, arguments, ...)                                           \
    if (!find(library, calls.member, GPUCHECK_NAMES(__VA_ARGS__)) && Need::need == Need::required) \
        return Missing{calls.member.name, "required symbol absent"};
    GPUCHECK_NVML_CALLS(GPUCHECK_NVML_FIND)
#undef GPUCHECK_NVML_FIND
    return calls;
}

std::vector<CallNames> call_names() {
#define GPUCHECK_NVML_NAMES(member, need, arguments, ...) {#member, Need::need, GPUCHECK_NAMES(__VA_ARGS__)},
    return {GPUCHECK_NVML_CALLS(GPUCHECK_NVML_NAMES)};
#undef GPUCHECK_NVML_NAMES
}

}  // namespace gpucheck::vendor::nvml
