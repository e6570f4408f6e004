// What a sick driver does to the process that calls it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harm.h"
#include "scenario.h"

namespace fake {

/// Where an answer goes, for faults that fill it with rubbish.
struct Region {
    void* data = nullptr;
    std::size_t size = 0;
};

/// The fault that this call meets now; nullptr when it is well. Counts the call.
const Fault* fault_of(const std::string& call, const Gpu* gpu);

/// Overwrites the answer when the fault is one of rubbish; false when it is not.
bool spoil(const Fault& fault, const std::vector<Region>& regions);

}  // namespace fake
