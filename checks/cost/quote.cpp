// Operating points, bands and published rows; see quote.h.
#include "checks/cost/quote.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpucheck::cost {
namespace {

// Lengths of a row and of the workload that are near enough to be the same question.
constexpr double kSameLength = 0.10;

bool near(double a, std::optional<double> b) {
    return b && std::abs(a - *b) <= kSameLength * *b;
}

const Estimate* made(const Outcome& outcome) {
    return std::get_if<Estimate>(&outcome);
}

const ReferenceRow* fitting_row(const QuoteRequest& request, const Workload& load) {
    if (request.point != Point::maximum || request.machine->board.empty()) return nullptr;
    for (const ReferenceRow* row : request.references) {
        if (row->board == request.machine->board && row->model == request.model->key &&
            row->scenario == request.scenario && same_format(row->precision, load.weights) &&
            near(load.isl, row->isl) && near(load.osl, row->osl)) {
            return row;
        }
    }
    return nullptr;
}

// Rates from a datasheet say nothing about this machine, so nothing is left to scale a row with.
void scale_by_reference(Quote& result, const QuoteRequest& request) {
    if (request.healthy == nullptr || result.machine->basis == Basis::datasheet) return;
    const ReferenceRow* row = fitting_row(request, result.load);
    if (row == nullptr) return;
    const Outcome healthy = estimate(*request.model, *request.healthy, result.load);
    const Estimate* reference = made(healthy);
    if (reference == nullptr) return;
    Estimate& ours = *result.estimate;
    const double published = row->tokens_per_s_per_gpu * result.load.group;
    const double scale = published / reference->tokens_per_s;
    if (!(scale > 0) || !std::isfinite(scale)) return;
    ours.tokens_per_s *= scale;
    ours.tokens_per_s_per_user *= scale;
    ours.prefill_s /= scale;
    ours.step_s /= scale;
    result.method = Method::reference_scaled;
    result.reference = row;
}

void set_band(Quote& result, const QuoteRequest& request) {
    bool stale = false;
    double factor = analytic_band(result.model->mixture(), result.machine->basis);
    if (result.method == Method::reference_scaled) {
        factor = reference_band(*result.reference, request.today, stale);
        if (stale) {
            result.warnings.push_back("stale: the published result is of " + result.reference->as_of +
                                      ", and software has moved the same hardware by 15 to 75 % in a year");
        }
    }
    const double tokens = result.estimate->tokens_per_s;
    result.band = {tokens / factor, tokens * factor, 0.9, factor};
}

void set_price(Quote& result, const QuoteRequest& request) {
    result.price = request.price;
    result.utilization = request.utilization;
    result.price.usd_gpu_hour = usable_price(request.price.usd_gpu_hour);
    if (!result.price.usd_gpu_hour) {
        result.warnings.push_back("price_unknown: no price, so no USD figure");
        return;
    }
    result.usd = usd_per_million(*result.estimate, result.load, result.price.usd_gpu_hour);
    result.usd_at_utilization =
        usd_per_million(*result.estimate, result.load, result.price.usd_gpu_hour, request.utilization);
    const double price = *result.price.usd_gpu_hour;
    if (price < kLeastLikelyUsd || price > kMostLikelyUsd) {
        result.warnings.push_back(
            "the price per GPU-hour is outside 0.3 to 15 USD: is it that of a whole instance?");
    }
    if (const auto days = days_between(result.price.as_of, request.today); days && *days > kStalePriceDays) {
        result.warnings.push_back("the price is of " + result.price.as_of + ", " + std::to_string(*days) +
                                  " days ago: list prices move by 30 to 66 % in a year");
    }
}

}  // namespace

std::string_view name_of(Point point) {
    constexpr std::array<std::string_view, 4> kNames{"single_user", "interactive", "maximum", "fixed"};
    return kNames[static_cast<std::size_t>(point)];
}

std::string_view name_of(Method method) {
    return method == Method::analytic ? "analytic" : "reference_scaled";
}

double Quote::replicas() const {
    return machine == nullptr || load.group == 0 ? 0 : std::floor(machine->gpus / load.group);
}

double analytic_band(bool mixture, Basis basis) {
    // Share of held-out published results inside: dense x1.3 91 %, mixtures x1.75 91-93 % (docs/cost.md).
    // Datasheet rates widen the dense band to x1.6; the mixture's is widened by the same.
    const double band = mixture ? 1.75 : 1.3;
    return basis == Basis::datasheet ? band * 1.6 / 1.3 : band;
}

double reference_band(const ReferenceRow& row, const std::string& today, bool& stale) {
    const auto days = days_between(row.as_of, today);
    stale = !days || *days > 365;
    if (stale) return 1.5;
    return *days > 182 ? 1.3 : 1.15;
}

std::variant<Workload, Refusal> load_at(Point point, const LlmModel& model, const MeasuredMachine& machine,
                                        Workload load) {
    if (point == Point::fixed) return load;
    load.shape = LoadShape::steady;
    load.concurrency = 1;
    const Outcome alone = estimate(model, machine, load);
    if (const auto* refusal = std::get_if<Refusal>(&alone)) return *refusal;
    const Estimate& single = std::get<Estimate>(alone);
    if (point == Point::single_user) return load;
    const double most = std::floor(std::min(single.max_concurrency, kEngineBatch));
    if (point == Point::maximum) {
        load.concurrency = kEngineBatch;
        return load;
    }
    if (single.tokens_per_s_per_user < kInteractiveTokens) {
        return Refusal{RefusalCode::not_reachable, "one user alone gets fewer than 30 tokens/s"};
    }
    double low = 1, high = most;  // a user's speed never rises with the number of users
    while (low < high) {
        const double middle = std::ceil((low + high) / 2);
        load.concurrency = middle;
        const Outcome outcome = estimate(model, machine, load);
        const Estimate* there = made(outcome);
        if (there != nullptr && there->tokens_per_s_per_user >= kInteractiveTokens) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    load.concurrency = low;
    return load;
}

std::optional<unsigned> smallest_group(const LlmModel& model, const MeasuredMachine& machine, Workload load) {
    std::optional<unsigned> fits;
    load.shape = LoadShape::steady;
    load.concurrency = 1;
    for (const unsigned group : {1U, 2U, 4U, 8U}) {
        if (group > machine.gpus) break;
        load.group = group;
        const Outcome outcome = estimate(model, machine, load);
        const Estimate* there = made(outcome);
        if (there == nullptr) continue;
        fits = group;
        if (there->max_concurrency >= kRoomyRequests) break;
    }
    return fits;
}

Quote quote(const QuoteRequest& request) {
    Quote result;
    result.model = request.model;
    result.machine = request.machine;
    result.load = request.load;
    result.point = request.point;
    result.price = request.price;
    result.price.usd_gpu_hour = usable_price(request.price.usd_gpu_hour);
    const auto load = load_at(request.point, *request.model, *request.machine, request.load);
    if (const auto* refusal = std::get_if<Refusal>(&load)) {
        result.refusal = *refusal;
        return result;
    }
    result.load = std::get<Workload>(load);
    const Outcome outcome = estimate(*request.model, *request.machine, result.load);
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
        result.refusal = *refusal;
        return result;
    }
    result.estimate = std::get<Estimate>(outcome);
    const std::optional<bool> native =
        result.load.weights == Precision::fp8 ? request.machine->has_fp8 : request.machine->has_fp4;
    result.weights_only_stored = result.load.weights != Precision::fp16 && native != true;
    scale_by_reference(result, request);
    set_band(result, request);
    set_price(result, request);
    if (const auto power = request.machine->power_w; power && *power >= 1 && *power <= 1e5) {
        result.gpu_tokens_per_joule = result.estimate->tokens_per_s / (*power * result.load.group);
    }
    return result;
}

}  // namespace gpucheck::cost
