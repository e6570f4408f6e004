// The data files behind a cost estimate: model shapes, rates of healthy boards, published results and dated
// prices, each row with its source, each file replaceable by the operator's own (--specs DIR).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/cost/llm.h"
#include "checks/cost/machine.h"
#include "checks/cost/quote.h"
#include "checks/specs/boards.h"

namespace gpucheck::cost {

/// Rates that healthy boards of one kind reached in published measurements.
struct BoardRates {
    MeasuredMachine machine;  ///< gpus is 0: the caller says how many
    std::string bandwidth_test, as_of;
    std::vector<std::string> unverified;
};

struct PriceRow {
    std::string board;
    Price price;  ///< with market, source and as_of
};

/// Provisioned facility power of one GPU with its share of host, network and cooling.
struct FacilityPower {
    std::string board;
    double kw_per_gpu = 0;
    std::string source, as_of;
};

struct Tables {
    std::vector<LlmModel> models;
    std::vector<BoardRates> rates;
    std::vector<ReferenceRow> references;
    std::vector<PriceRow> prices;
    std::vector<FacilityPower> power;

    /// models.json, board_rates.json, reference_rows.json and prices.json of `folder` where that has them,
    /// else those inside the binary. The error names file and row.
    static std::variant<Tables, std::string> load(const std::string& folder = {});

    const LlmModel* model(std::string_view key) const;
    const BoardRates* rates_of(std::string_view board) const;
    const PriceRow* price_of(std::string_view board, std::string_view market = "rental") const;
    const FacilityPower* power_of(std::string_view board) const;
};

/// A board as its datasheet row describes it, times what boards usually reach of it: 0.87 of the bandwidth,
/// 0.62 of the matrix rates (docs/cost.md). What the row does not know stays unknown.
MeasuredMachine datasheet_machine(const BoardRow& row);
/// How GPUs of this board reach each other where the board alone decides it; unknown for cards whose bridges
/// are optional.
Fabric fabric_of(const BoardRow& row);

}  // namespace gpucheck::cost
