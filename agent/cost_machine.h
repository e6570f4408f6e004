// Where the rates of a cost estimate come from: a report, the command line, published boards or a datasheet.
// Each refuses in words of its own, so that nobody takes an assumed machine for a measured one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/cost/data/tables.h"
#include "checks/cost/estimator.h"
#include "checks/specs/boards.h"

namespace gpucheck {

/// What files say about a machine's GPUs: enough to choose a board, nothing about its speed.
struct MachineBoards {
    std::string board;  ///< key; empty when there is none or they differ
    unsigned gpus = 0;
    bool partitioned = false;
    std::string why;  ///< when board is empty
};

/// A wrong command line in one sentence.
struct UsageError {
    std::string what;
};

using MachineOutcome = std::variant<cost::MeasuredMachine, cost::Refusal, UsageError>;

/// The report in `text`, or why it is none; `name` is its file.
std::variant<Json, UsageError> read_report(std::string_view text, const std::string& name);

/// gpus[].measurements of a report (docs/cost.md lists the members read): the slowest GPU counts, for a group
/// waits for it.
MachineOutcome machine_from_report(const Json& report, const BoardTable& boards);

/// instance.price of a report; unknown when it has none that can be divided by.
cost::Price price_from_report(const Json& report);

/// The sentence for a key that no row has.
std::optional<UsageError> unknown_board(const std::string& board, const BoardTable& boards);

/// The board by its key from `tables` (published) or from its datasheet row.
MachineOutcome assumed_machine(const std::string& board, const std::string& assume, unsigned gpus,
                               const BoardTable& boards, const cost::Tables& tables);

/// Replaces rates by KEY=VALUE texts.
std::optional<UsageError> apply_measured(const std::vector<std::string>& texts,
                                         cost::MeasuredMachine& machine);

/// A finite number of digits, and nothing else.
std::optional<double> number_from(std::string_view text);
/// "KEY=VALUE" in two.
std::optional<std::pair<std::string, std::string>> key_value(const std::string& text);

}  // namespace gpucheck
