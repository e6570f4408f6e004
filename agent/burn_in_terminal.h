// One line on a terminal while GPUs are under load, so that nobody takes a minute of silence for a hang.
#pragma once

#include <string>
#include <vector>

#include "agent/burn_in.h"

namespace gpucheck {

/// Redraws one line on standard error when that is a terminal; silent otherwise. The line is wiped at the
/// end.
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
    std::vector<std::string> names_, words_;  ///< of each GPU
};

/// What a GPU's part of the line says after `news`: "matrix bf16 612 TFLOP/s", "memory_stream 61 C 540 W".
std::string progress_words(const std::string& before, const BurnInProgress& news);

}  // namespace gpucheck
