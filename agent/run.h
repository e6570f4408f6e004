// One run from options to exit status.
#pragma once

#include <string>
#include <string_view>

#include "agent/cli/options.h"
#include "agent/report/exit_status.h"

namespace gpucheck {

int run(const cli::RunOptions& options);
/// At a boot: the verdict of a run that cannot begin, so that nobody waits for it and nobody takes an earlier
/// one for it. Otherwise nothing.
void announce_refusal(const cli::RunOptions& options, const std::string& why);
int list(const cli::ListOptions& options);
int capture_machine(const cli::CaptureOptions& options);

/// Colours are welcome on standard output: a terminal, and no NO_COLOR.
bool colours();

/// Writes all of `text` to standard output; kSoftware and a message when that fails, else 0.
int print(std::string_view text);

}  // namespace gpucheck
