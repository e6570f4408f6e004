// Which of our measurements may be held to which published figure: the wrong pair either never fails (a
// register loop against a memory-bound GEMM that failed half of a fleet elsewhere) or fails healthy boards.
#pragma once

#include <string_view>

#include "checks/burn_facts.h"

namespace gpucheck {

/// One pair that measures the same thing.
struct Comparison {
    std::string_view measured;  ///< name of checks/model/rates.h
    std::string_view floor;     ///< metric of gpus.json
    std::string_view test;      ///< how the source's test begins: other tests of that metric are not ours
    /// Below the floor is a warning; only below this part of it a failure: another kernel of the same kind
    /// may be slower, and what it loses is no fault of the board.
    double fails_below = 1;
};

/// The codes of one check.
struct RateWords {
    std::string_view id, slow;
};

/// Judges one rate against peak and floors of its board: low, impossible, right, or not comparable.
Finding judge_rate(const Snapshot& snapshot, const Device& gpu, const MeasuredRate& rate,
                   const RateWords& words);

}  // namespace gpucheck
