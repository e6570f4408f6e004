// Quotes, winners and shortfalls; see cost_answer.h.
#include "agent/cost_answer.h"

#include <algorithm>

#include "agent/report/render.h"

namespace gpucheck {
namespace {

using cost::Point;
using cost::Precision;
using cost::Quote;

// Formats worth a row: what was asked for, else what the model comes in, else what the hardware computes in.
std::vector<Precision> precisions_of(const CostPlan& plan, const cost::LlmModel& model,
                                     const cost::MeasuredMachine& machine) {
    if (plan.weights) return {*plan.weights};
    if (model.native_weights.starts_with("mxfp4")) return {Precision::mxfp4};
    std::vector<Precision> list;
    // FP8 that was not measured, FP16 that was: a figure in FP16 is worth more than none in FP8.
    if (machine.has_fp8 == true && (machine.fp8_flop_s || !machine.fp16_flop_s))
        list.push_back(Precision::fp8);
    // Boards are compared in the format that most of them have; --weights fp4 compares those that have it.
    if (machine.has_fp4 == true && plan.machines.size() == 1) list.push_back(Precision::fp4);
    if (list.empty()) list.push_back(Precision::fp16);
    return list;
}

struct Asked {
    const cli::CostOptions& options;
    const CostSurroundings& surroundings;
    const CostPlan& plan;
};

// The published row that --scenario asks for.
const cost::ReferenceRow* scenario_row(const Asked& asked, const cost::QuoteRequest& request) {
    for (const cost::ReferenceRow& row : asked.plan.tables.references) {
        if (row.board == request.machine->board && row.model == request.model->key &&
            row.scenario == asked.options.scenario &&
            cost::same_format(row.precision, request.load.weights)) {
            return &row;
        }
    }
    return nullptr;
}

void add_scenario(const Asked& asked, cost::QuoteRequest request, CostResult& result) {
    const cost::ReferenceRow* row = scenario_row(asked, request);
    request.point = Point::maximum;
    if (row != nullptr && row->isl && row->osl) {
        request.load.isl = *row->isl;
        request.load.osl = *row->osl;
        request.scenario = row->scenario;
        result.quotes.push_back(cost::quote(request));
        return;
    }
    Quote none;
    none.model = request.model;
    none.machine = request.machine;
    none.load = request.load;
    none.point = request.point;
    none.price = request.price;
    none.refusal =
        cost::Refusal{cost::RefusalCode::unscorable,
                      row == nullptr ? "no published result of this board, model and format"
                                     : "the published result does not say how long its prompts were"};
    result.quotes.push_back(std::move(none));
}

void add_quotes(const Asked& asked, const cost::LlmModel& model, const PricedMachine& priced,
                CostResult& result) {
    const CostPlan& plan = asked.plan;
    cost::QuoteRequest request;
    request.model = &model;
    request.machine = &priced.machine;
    request.price = priced.price;
    request.utilization = plan.utilization;
    request.today = asked.surroundings.today;
    const cost::BoardRates* healthy = plan.tables.rates_of(priced.machine.board);
    cost::MeasuredMachine reference;
    if (healthy != nullptr) {
        reference = healthy->machine;
        reference.gpus = priced.machine.gpus;
        request.healthy = &reference;
    }
    for (const cost::ReferenceRow& row : plan.tables.references) request.references.push_back(&row);
    for (const Precision weights : precisions_of(plan, model, priced.machine)) {
        cost::Workload& load = request.load;
        load.weights = weights;
        load.kv = plan.kv.value_or(priced.machine.has_fp8 == true ? Precision::fp8 : Precision::fp16);
        const bool native_form = !plan.weights && weights == Precision::mxfp4;
        load.weight_only = asked.options.weight_only || native_form;
        load.attention_data_parallel = asked.options.attention_dp;
        for (const auto& [isl, osl] : plan.lengths) {
            load.isl = isl;
            load.osl = osl;
            load.group = plan.group ? *plan.group
                                    : cost::smallest_group(model, priced.machine, load)
                                          .value_or(priced.machine.gpus >= 8 ? 8 : 1);
            if (!asked.options.scenario.empty()) {
                add_scenario(asked, request, result);
                break;
            }
            if (plan.concurrency) {
                load.concurrency = *plan.concurrency;
                request.point = Point::fixed;
                result.quotes.push_back(cost::quote(request));
                continue;
            }
            for (const Point point : {Point::single_user, Point::interactive, Point::maximum}) {
                request.point = point;
                result.quotes.push_back(cost::quote(request));
            }
        }
    }
}

// Boards differ by the model's own error below this ratio (docs/cost.md: ratio of two boards, p90 15 %).
constexpr double kTooClose = 1.15;

void add_winners(CostResult& result) {
    for (std::size_t i = 0; i < result.quotes.size(); ++i) {
        const Quote& first = result.quotes[i];
        const auto same = [&](const Quote& q) {
            return q.model == first.model && q.point == first.point && q.load.isl == first.load.isl &&
                   q.load.osl == first.load.osl;
        };
        if (std::any_of(result.quotes.begin(), result.quotes.begin() + static_cast<std::ptrdiff_t>(i), same))
            continue;
        std::vector<const Quote*> field;
        for (const Quote& quote : result.quotes) {
            if (same(quote) && quote.estimate) field.push_back(&quote);
        }
        Winner winner;
        winner.model = first.model->key;
        winner.point = cost::name_of(first.point);
        winner.isl = first.load.isl;
        winner.osl = first.load.osl;
        winner.by_price = std::all_of(field.begin(), field.end(),
                                      [](const Quote* q) { return q->usd.blended.has_value(); });
        const auto badness = [&](const Quote* q) {
            return winner.by_price ? *q->usd.blended : 1 / q->tokens_per_s_per_gpu();
        };
        std::stable_sort(field.begin(), field.end(),
                         [&](const Quote* a, const Quote* b) { return badness(a) < badness(b); });
        const auto shown = [&](const Quote* q) {
            return winner.by_price ? *q->usd.blended : q->tokens_per_s_per_gpu();
        };
        for (const Quote* quote : field) {
            if (winner.board.empty()) {
                winner.board = quote->machine->board;
                winner.best = shown(quote);
                winner.weights = cost::name_of(quote->load.weights);
            } else if (quote->machine != field.front()->machine && winner.runner_up.empty()) {
                winner.runner_up = quote->machine->board;
                winner.second = shown(quote);
                winner.runner_up_weights = cost::name_of(quote->load.weights);
                winner.close = badness(quote) / badness(field.front()) < kTooClose;
            }
        }
        result.winners.push_back(std::move(winner));
    }
}

void add_shortfalls(const CostPlan& plan, CostResult& result) {
    const PricedMachine& own = plan.machines.front();
    const cost::BoardRates* healthy = plan.tables.rates_of(own.machine.board);
    const bool looked = own.machine.basis == cost::Basis::measured || own.machine.basis == cost::Basis::given;
    if (!looked || healthy == nullptr) return;
    for (const Quote& quote : result.quotes) {
        if (quote.machine != &own.machine || !quote.estimate) continue;
        if (quote.point != Point::interactive && quote.point != Point::fixed) continue;
        for (const cost::Part part : {cost::Part::bandwidth, cost::Part::matrix, cost::Part::capacity}) {
            if (const auto found = cost::shortfall(part, *quote.model, own.machine, healthy->machine,
                                                   quote.load, own.price.usd_gpu_hour)) {
                const std::string text = cost::sentence(*found, *quote.model, own.machine, quote.load);
                if (std::find(result.shortfalls.begin(), result.shortfalls.end(), text) ==
                    result.shortfalls.end()) {
                    result.shortfalls.push_back(text);
                }
            }
        }
    }
    if (!result.shortfalls.empty()) {
        result.notes.push_back(
            "healthy: " + healthy->machine.source + ", " + healthy->bandwidth_test +
            ". Other kernels than those measured here may differ by 1 to 18 % on the same GPU");
    }
}

}  // namespace

AnswerOutcome answer_cost(const cli::CostOptions& options, const CostSurroundings& surroundings) {
    PlanOutcome planned = plan_cost(options, surroundings);
    if (auto* error = std::get_if<UsageError>(&planned)) return std::move(*error);
    if (auto* refusal = std::get_if<cost::Refusal>(&planned)) return std::move(*refusal);
    Answer made{std::move(std::get<CostPlan>(planned)), {}};
    const CostPlan& plan = made.plan;
    CostResult& result = made.result;
    result.today = surroundings.today;
    result.notes = plan.notes;
    result.compare = plan.machines.size() > 1;
    for (const cost::LlmModel* model : plan.models) {
        for (const PricedMachine& priced : plan.machines)
            add_quotes({options, surroundings, plan}, *model, priced, result);
    }
    if (result.compare) add_winners(result);
    add_shortfalls(plan, result);
    return made;
}

report::Cost cost_of(const report::Report& report, const std::string& specs_folder) {
    const auto measured = [](const Device& gpu) { return gpu.burn_in.results.known(); };
    report::Cost cost;
    if (std::none_of(report.snapshot.gpus.begin(), report.snapshot.gpus.end(), measured)) {
        cost.missing = report.snapshot.gpus.empty() ? "no GPU was found" : "no experiment was run on a GPU";
        return cost;
    }
    const std::string text = report::render_json(report);
    cli::CostOptions options;
    options.machine.specs_folder = specs_folder;
    const auto answered = answer_cost(options, {report.created.substr(0, 10), nullptr, &text});
    if (const auto* error = std::get_if<UsageError>(&answered)) cost.missing = error->what;
    if (const auto* refusal = std::get_if<cost::Refusal>(&answered))
        cost.missing = std::string(cost::name_of(refusal->code)) + ": " + refusal->why;
    if (const auto* made = std::get_if<Answer>(&answered)) {
        for (const Quote& quote : made->result.quotes) cost.rows.push_back(dump_json(cost_json(quote), -1));
        cost.shortfalls = made->result.shortfalls;
        cost.notes = made->result.notes;
        cost.lines = cost_lines(made->result);
    }
    return cost;
}

}  // namespace gpucheck
