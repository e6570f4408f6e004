// How a kernel tells what it found: counted in full, the first ones recorded with place, bits and compute
// unit.
#pragma once

#include "kernels/results.h"

namespace gpucheck::kernels {

/// Tells of one wrong value.
GPU_FN void report(CheckResult* result, const Mismatch& found) {
    atomic_add(&result->wrong, u64{1});
    atomic_or(&result->any_difference, found.difference);
    atomic_min(&result->first_index, found.index);
    const u32 slot = atomic_add(&result->records_wanted, 1u);
    if (slot < kRecords) result->records[slot] = found;
}

/// Which units ran and which were wrong. A wave that moved meanwhile (it was saved and resumed elsewhere)
/// blames none.
GPU_FN void count_unit(CheckResult* result, u32 before, u32 after, u32 done, u32 wrong) {
    if (before != after) {
        if (done != 0) atomic_add(&result->moved, 1u);
    } else if (before >= kUnits) {
        if (done != 0) atomic_add(&result->outside_units, 1u);
    } else {
        if (done != 0) atomic_add(&result->units[before].done, done);
        if (wrong != 0) atomic_add(&result->units[before].wrong, wrong);
    }
}

struct MemoryPlace {
    Experiment experiment;
    u32 kind, unit;
    u64 offset;  // bytes
};

/// Tells of one wrong word of memory; returns 1.
GPU_FN u32 report_word(CheckResult* result, const MemoryPlace& place, u64 more, u64 expected, u64 got) {
    const u64 offset = place.offset + more;
    for (u32 bit = 3; bit < kAddressBits; ++bit) {
        if ((offset >> bit & 1) != 0) atomic_add(&result->wrong_by_address_bit[bit], u64{1});
    }
    report(result, Mismatch{offset, expected, got, expected ^ got, static_cast<u32>(place.experiment),
                            place.kind, block_index(), 0, thread_index(), 0, place.unit, 0, 0, 0});
    return 1;
}

/// Adds a block's values and hands them to one atomic: one for each thread would cost more than a fast
/// reading takes. All threads of the block must come here.
GPU_FN void add_of_block(u64* total, u64 value) {
    GPU_SHARED(u64, shared, 1024);
    block_barrier();
    shared[thread_index()] = value;
    block_barrier();
    if (thread_index() != 0) return;
    u64 sum = 0;
    for (u32 i = 0; i < block_size(); ++i) sum += shared[i];
    atomic_add(total, sum);
}

}  // namespace gpucheck::kernels
