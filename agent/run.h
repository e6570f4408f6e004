// One run from options to exit status.
#pragma once

#include "agent/cli/options.h"

namespace gpucheck {

inline constexpr int kUsage = 64;     ///< wrong command line or unusable input
inline constexpr int kSoftware = 70;  ///< gpucheck itself broke

int run(const cli::RunOptions& options);
int list(const cli::ListOptions& options);
int capture_machine(const cli::CaptureOptions& options);

/// Colours are welcome on standard output: a terminal, and no NO_COLOR.
bool colours();

/// Writes all of `text` to standard output; kSoftware and a message when that fails, else 0.
int print(std::string_view text);

}  // namespace gpucheck
