// A line for each GPU on a terminal while they are under load, so that nobody takes a minute of silence for a
// hang.
#pragma once

#include <string>
#include <vector>

#include "agent/burn_in.h"

namespace gpucheck {

/// What is shown of one GPU: the newest of each kind.
struct GpuProgress {
    std::string stage = "starting";
    std::string tflops, gb_s, watts, celsius, trouble;

    void take(const BurnInProgress& news);
    /// "matrix bf16 612 TFLOP/s 3120 GB/s 540 W 61 C".
    std::string text() const;
};

/// Redraws its lines on standard error when that is a terminal; silent otherwise. They are wiped at the end.
class BurnInLineOnTerminal {
  public:
    explicit BurnInLineOnTerminal(const Snapshot& snapshot);
    ~BurnInLineOnTerminal();
    BurnInLineOnTerminal(const BurnInLineOnTerminal&) = delete;
    BurnInLineOnTerminal& operator=(const BurnInLineOnTerminal&) = delete;

    void show(std::size_t gpu, const BurnInProgress& news);

  private:
    void draw() const;
    bool terminal_;
    std::vector<std::string> names_;
    std::vector<GpuProgress> gpus_;
};

/// All lines, cut to a terminal of this size, and back to where the cursor was.
std::string drawn(const std::vector<std::string>& lines, std::size_t columns, std::size_t rows);

}  // namespace gpucheck
