// What a cost run found, as tables for people and as data for programs: never a bare "USD per token" without
// the point, precision, price and band it belongs to.
#pragma once

#include <string>
#include <vector>

#include "checks/cost/quote.h"
#include "checks/cost/shortfall.h"
#include "checks/json/json.h"

namespace gpucheck {

/// The best board of one workload.
struct Winner {
    std::string model, point;
    double isl = 0, osl = 0;
    std::string board;                       ///< empty: nobody could be compared
    std::string runner_up;                   ///< empty: only one could
    std::string weights, runner_up_weights;  ///< their formats: fp16 and fp8 are not the same product
    bool by_price = false;                   ///< USD per million output tokens, else tokens/s of one GPU
    double best = 0, second = 0;
    bool close = false;  ///< nearer than the model tells boards apart (15 %)
};

struct CostResult {
    std::vector<cost::Quote> quotes;
    std::vector<Winner> winners;          ///< --compare only
    std::vector<std::string> shortfalls;  ///< sentences
    std::vector<std::string> notes;       ///< about prices, ownership, bases
    bool compare = false;
    std::string today;
};

std::string cost_text(const CostResult& result, bool plot);
/// For the report's text: machine and price, then a line for each model at the point that people chat at.
std::vector<std::string> cost_lines(const CostResult& result);
std::string cost_csv(const CostResult& result);
/// {"schema_version", "cost": [...], "winners", "shortfalls", "notes"}.
Json cost_document(const CostResult& result);
/// One row of the report's `cost[]`: null where nobody knows, every USD figure null without a price.
Json cost_json(const cost::Quote& quote);

/// Throughput of a GPU against the speed of one user, one letter a curve; both axes logarithmic.
struct Curve {
    std::string name;
    std::vector<std::pair<double, double>> points;  ///< tokens/s of one user, tokens/s of one GPU
};
std::string draw_curves(const std::vector<Curve>& curves);
/// The curve of a quote's model, board and lengths, from one user to as many as fit.
Curve curve_of(const cost::Quote& quote);

}  // namespace gpucheck
