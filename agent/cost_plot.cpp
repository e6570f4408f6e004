// One figure of throughput misleads by a factor of five; the curve shows what a user's speed costs. See
// cost_render.h.
#include <algorithm>
#include <cmath>

#include "agent/cost_render.h"
#include "agent/report/escape.h"

namespace gpucheck {
namespace {

constexpr int kColumns = 72, kRows = 18;

struct Axis {
    double low = 0, high = 0;  // log10
    int cell(double value, int cells) const {
        const double share = high > low ? (std::log10(value) - low) / (high - low) : 0.5;
        return std::clamp(static_cast<int>(std::lround(share * (cells - 1))), 0, cells - 1);
    }
};

Axis axis_of(const std::vector<Curve>& curves, bool users) {
    double low = 1e300, high = 0;
    for (const Curve& curve : curves) {
        for (const auto& point : curve.points) {
            const double value = users ? point.first : point.second;
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    return {std::log10(low), std::log10(high)};
}

}  // namespace

Curve curve_of(const cost::Quote& quote) {
    Curve curve;
    curve.name = (quote.machine->board.empty() ? "this machine" : quote.machine->board) + " x" +
                 std::to_string(quote.load.group) + " " + std::string(cost::name_of(quote.load.weights));
    cost::Workload load = quote.load;
    load.shape = cost::LoadShape::steady;
    for (double users = 1; users <= cost::kEngineBatch;
         users = std::max(users + 1, std::floor(users * 1.15))) {
        load.concurrency = users;
        const cost::Outcome outcome = cost::estimate(*quote.model, *quote.machine, load);
        const auto* made = std::get_if<cost::Estimate>(&outcome);
        if (made == nullptr || made->batch < users) break;
        curve.points.emplace_back(made->tokens_per_s_per_user, made->tokens_per_s / load.group);
    }
    return curve;
}

std::string draw_curves(const std::vector<Curve>& curves) {
    const bool some =
        std::any_of(curves.begin(), curves.end(), [](const Curve& c) { return !c.points.empty(); });
    if (!some) return {};
    const Axis users = axis_of(curves, true), tokens = axis_of(curves, false);
    std::vector<std::string> grid(kRows, std::string(kColumns, ' '));
    char letter = 'A';
    std::string legend;
    for (const Curve& curve : curves) {
        for (const auto& [user, gpu] : curve.points) {
            char& cell = grid[static_cast<std::size_t>(kRows - 1 - tokens.cell(gpu, kRows))]
                             [static_cast<std::size_t>(users.cell(user, kColumns))];
            cell = cell == ' ' || cell == letter ? letter : '*';
        }
        legend += std::string("  ") + letter + " " + report::plain(curve.name) + "\n";
        letter = letter == 'Z' ? 'a' : static_cast<char>(letter + 1);
    }
    std::string text;
    const std::size_t margin = 9;
    for (int row = 0; row < kRows; ++row) {
        const double value = tokens.low + (tokens.high - tokens.low) * (kRows - 1 - row) / (kRows - 1);
        std::string label = row % 4 == 0 || row == kRows - 1 ? cost::three_digits(std::pow(10, value)) : "";
        label.insert(0, label.size() < margin - 2 ? margin - 2 - label.size() : 0, ' ');
        std::string line = label + " |" + grid[static_cast<std::size_t>(row)];
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    text += std::string(margin - 1, ' ') + "+" + std::string(kColumns, '-') + "\n";
    const std::string low = cost::three_digits(std::pow(10, users.low)),
                      high = cost::three_digits(std::pow(10, users.high));
    const std::size_t gap = low.size() + high.size() < kColumns ? kColumns - low.size() - high.size() : 1;
    return text + std::string(margin, ' ') + low + std::string(gap, ' ') + high + "\n" + legend;
}

}  // namespace gpucheck
