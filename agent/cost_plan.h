// What a cost command line asks for, checked: machines, models, loads and prices. Everything wrong is said
// here, before anything is computed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/cli/options.h"
#include "agent/cost_command.h"
#include "checks/cost/data/tables.h"

namespace gpucheck {

struct PricedMachine {
    cost::MeasuredMachine machine;
    cost::Price price;
};

struct CostPlan {
    cost::Tables tables;
    std::vector<std::unique_ptr<cost::LlmModel>> read_models;  ///< from config.json files
    std::vector<const cost::LlmModel*> models;
    std::vector<PricedMachine> machines;  ///< with --compare several
    std::vector<std::pair<double, double>> lengths;
    std::optional<double> concurrency;  ///< nullopt: the three usual points
    std::optional<cost::Precision> weights, kv;
    std::optional<unsigned> group;
    double utilization = 0.5;
    cost::Price reported;  ///< what the report says that the instance costs
    std::vector<std::string> notes;
};

using PlanOutcome = std::variant<CostPlan, cost::Refusal, UsageError>;
PlanOutcome plan_cost(const cli::CostOptions& options, const CostSurroundings& surroundings);

/// The price of --owned, with its parts in `notes`; unknown when a part is.
std::variant<cost::Price, UsageError> owned_price(const std::vector<std::string>& texts,
                                                  const std::string& board, const cost::Tables& tables,
                                                  std::vector<std::string>& notes);

/// A price of each machine: --price, --price BOARD=, --instance-price, --owned, the report, the dated table.
std::optional<UsageError> set_prices(const cli::CostOptions& options, const BoardTable& boards,
                                     CostPlan& plan);

}  // namespace gpucheck
