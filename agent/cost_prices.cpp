// Prices and ownership from the command line and the dated table; see cost_plan.h. An unknown price stays
// unknown: a zero would make every comparison's winner.
#include <algorithm>

#include "agent/cost_plan.h"
#include "checks/cost/shortfall.h"

namespace gpucheck {
namespace {

using cost::three_digits;

struct Part {
    std::string_view key;
    double least, most;
    std::optional<double> cost::Ownership::*optional = nullptr;
    double cost::Ownership::*plain = nullptr;
};
constexpr Part kParts[] = {
    {"capex_usd_per_gpu", 1, 1e7, &cost::Ownership::capex_usd_per_gpu},
    {"years", 0.1, 30, &cost::Ownership::years},
    {"availability", 0.01, 1, &cost::Ownership::availability},
    {"kw_per_gpu", 0.01, 100, &cost::Ownership::kw_per_gpu},
    {"usd_per_kwh", 0.001, 10, &cost::Ownership::usd_per_kwh},
    {"load", 0.01, 1, &cost::Ownership::load},
    {"pue", 1, 5, nullptr, &cost::Ownership::pue},
    {"software_usd_gpu_hour", 0, 1000, nullptr, &cost::Ownership::software_usd_gpu_hour},
    {"other_usd_gpu_hour", 0, 1000, nullptr, &cost::Ownership::other_usd_gpu_hour},
};

std::string part_names() {
    std::string text;
    for (const Part& part : kParts) text += (text.empty() ? "" : ", ") + std::string(part.key);
    return text;
}

std::optional<UsageError> read_part(const std::string& text, cost::Ownership& owned) {
    const auto pair = key_value(text);
    const auto* part = std::find_if(std::begin(kParts), std::end(kParts),
                                    [&](const Part& p) { return pair && p.key == pair->first; });
    if (part == std::end(kParts)) {
        return UsageError{"--owned " + text.substr(0, 60) + ": KEY=VALUE with " + part_names()};
    }
    const auto value = number_from(pair->second);
    if (!value || *value < part->least || *value > part->most) {
        return UsageError{"--owned " + text.substr(0, 60) + ": not a number from " +
                          three_digits(part->least) + " to " + three_digits(part->most)};
    }
    if (part->optional != nullptr) owned.*(part->optional) = *value;
    if (part->plain != nullptr) owned.*(part->plain) = *value;
    return std::nullopt;
}

// A price as given: nullopt inside for 0, which is no price.
std::variant<std::optional<double>, UsageError> usd_from(const std::string& option, const std::string& text,
                                                         std::vector<std::string>& notes) {
    const auto value = number_from(text);
    if (!value || *value < 0 || *value > 1e6) {
        return UsageError{option + " " + text.substr(0, 60) + ": not a price in USD"};
    }
    if (*value > 0) return std::optional(*value);
    notes.push_back(option + " 0 is no price: USD figures are left out");
    return std::optional<double>();
}

}  // namespace

std::variant<cost::Price, UsageError> owned_price(const std::vector<std::string>& texts,
                                                  const std::string& board, const cost::Tables& tables,
                                                  std::vector<std::string>& notes) {
    cost::Ownership owned;
    for (const std::string& text : texts) {
        if (auto error = read_part(text, owned)) return *error;
    }
    std::string power =
        "kw_per_gpu " + (owned.kw_per_gpu ? three_digits(*owned.kw_per_gpu) : std::string("unknown"));
    if (const cost::FacilityPower* row = tables.power_of(board); row != nullptr && !owned.kw_per_gpu) {
        if (owned.pue > 1) {
            return UsageError{
                "--owned pue multiplies a kw_per_gpu of your own; the table's contains the cooling"};
        }
        owned.kw_per_gpu = row->kw_per_gpu;
        power = "kw_per_gpu " + three_digits(row->kw_per_gpu) + " (" + row->source + ", " + row->as_of + ")";
    }
    const cost::OwnershipCost cost = cost::cost_of_owning(owned);
    const auto shown = [](std::optional<double> usd) {
        return usd ? three_digits(*usd) + " USD" : std::string("unknown");
    };
    notes.push_back("owning one GPU for one hour: electricity " + shown(cost.electricity_usd_gpu_hour) +
                    " (" + power + "), capital " + shown(cost.capital_usd_gpu_hour) +
                    ", software and others " +
                    three_digits(owned.software_usd_gpu_hour + owned.other_usd_gpu_hour) + " USD");
    if (!cost.usd_gpu_hour) {
        notes.push_back(
            "no USD per token without the whole cost of owning: it needs kw_per_gpu, usd_per_kwh, load, "
            "capex_usd_per_gpu, years and availability");
    }
    return cost::Price{cost.usd_gpu_hour, "--owned", "", "owned"};
}

std::optional<UsageError> set_prices(const cli::CostOptions& options, const BoardTable& boards,
                                     CostPlan& plan) {
    std::map<std::string, std::optional<double>> of_board;  // "": this machine
    for (const std::string& text : options.price) {
        const auto pair = key_value(text);
        if (pair && boards.find_row(pair->first) == nullptr) {
            return UsageError{"--price " + text.substr(0, 60) + ": no such board (see gpucheck specs)"};
        }
        const auto usd = usd_from("--price", pair ? pair->second : text, plan.notes);
        if (const auto* error = std::get_if<UsageError>(&usd)) return *error;
        of_board[pair ? pair->first : std::string()] = std::get<std::optional<double>>(usd);
    }
    if (!options.instance_price.empty()) {
        if (of_board.count("") > 0)
            return UsageError{"--price USD and --instance-price are one price too many"};
        const auto usd = usd_from("--instance-price", options.instance_price, plan.notes);
        if (const auto* error = std::get_if<UsageError>(&usd)) return *error;
        const auto whole = std::get<std::optional<double>>(usd);
        of_board[""] = whole ? std::optional(*whole / plan.machines.front().machine.gpus) : std::nullopt;
    }
    const bool market_known =
        std::any_of(plan.tables.prices.begin(), plan.tables.prices.end(),
                    [&](const cost::PriceRow& row) { return row.price.market == options.market; });
    if (!options.market.empty() && !market_known) {
        return UsageError{"--market " + options.market.substr(0, 60) +
                          ": the table has rental, owned_hyperscaler, owned_neocloud"};
    }
    if (!options.owned.empty() && of_board.count("") > 0) {
        return UsageError{"--owned and a price of this machine are one price too many"};
    }
    const bool compare = plan.machines.size() > 1;
    for (std::size_t i = 0; i < plan.machines.size(); ++i) {
        PricedMachine& one = plan.machines[i];
        const auto named = of_board.find(one.machine.board);
        const bool first = i == 0;
        if (named != of_board.end() && !one.machine.board.empty()) {
            one.price = {named->second, "--price", "", "unknown"};
        } else if (first && of_board.count("") > 0) {
            one.price = {of_board[""], options.instance_price.empty() ? "--price" : "--instance-price", "",
                         "unknown"};
        } else if (first && !options.owned.empty()) {
            auto owned = owned_price(options.owned, one.machine.board, plan.tables, plan.notes);
            if (auto* error = std::get_if<UsageError>(&owned)) return *error;
            one.price = std::get<cost::Price>(owned);
        } else if (first && options.market.empty() && plan.reported.usd_gpu_hour) {
            one.price = plan.reported;
        } else if (compare || !options.market.empty()) {
            // A table's price is nobody's instance price: taken only to compare, or when asked for.
            const std::string market = options.market.empty() ? "rental" : options.market;
            if (const cost::PriceRow* row = plan.tables.price_of(one.machine.board, market))
                one.price = row->price;
        }
    }
    return std::nullopt;
}

}  // namespace gpucheck
