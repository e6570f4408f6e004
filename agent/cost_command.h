// `gpucheck cost`: what a token costs on this machine. "10 % slower" is acted on when it reads "10 % dearer".
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <variant>

#include "agent/cli/options.h"
#include "agent/cost_machine.h"

namespace gpucheck {

struct CostSurroundings {
    std::string today;  ///< "2026-11-30"
    /// Looks at the machine of the options; asked only when neither a report nor a board is named.
    std::function<std::variant<MachineBoards, std::string>()> look;
    const std::string* report = nullptr;  ///< stands for the file of --from
};

/// 0: something was estimated; 1: --check-table found a row that contradicts itself; 2: refused, the reason
/// is printed; 64: a wrong command line or an unusable file.
int run_cost(const cli::CostOptions& options, const CostSurroundings& surroundings, std::ostream& out,
             std::ostream& err);

}  // namespace gpucheck
