// Which call meets a fault, and answers that lie; see README.md for the words.
#include "faults.h"

#include <cstring>

namespace fake {

const Fault* fault_of(const std::string& call, const Gpu* gpu) {
    for (Fault& fault : scenario().faults) {
        if (fault.call != "*" && fault.call != call) continue;
        if (!fault.gpu.empty() && (gpu == nullptr || gpu->address != fault.gpu)) continue;
        if (fault.seen++ < fault.after) continue;
        return &fault;
    }
    return nullptr;
}

bool spoil(const Fault& fault, const std::vector<Region>& regions) {
    unsigned state = 12345;
    for (const Region& region : regions) {
        auto* bytes = static_cast<unsigned char*>(region.data);
        if (fault.what == "ones") {
            std::memset(bytes, 0xff, region.size);
        } else if (fault.what == "unterminated") {
            std::memset(bytes, 'A', region.size);
        } else if (fault.what == "random") {
            for (std::size_t i = 0; i < region.size; ++i) {
                state = state * 1664525U + 1013904223U;
                bytes[i] = static_cast<unsigned char>(state >> 24);
            }
        } else if (fault.what != "untouched") {
            return false;
        }
    }
    return true;
}

}  // namespace fake
