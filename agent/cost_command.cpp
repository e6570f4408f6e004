// Plans, quotes, compares and prints; see cost_command.h.
#include "agent/cost_command.h"

#include <algorithm>
#include <ostream>

#include "agent/cost_claims.h"
#include "agent/cost_file.h"
#include "agent/cost_plan.h"
#include "agent/cost_render.h"
#include "agent/report/escape.h"
#include "agent/report/layout.h"

namespace gpucheck {
namespace {

using cost::Point;
using cost::Precision;
using cost::Quote;

constexpr int kClaimWrong = 1, kRefused = 2, kUsageStatus = 64;

int wrong(const UsageError& error, std::ostream& err) {
    err << "gpucheck cost: " << report::plain(error.what) << "\n";
    return kUsageStatus;
}

int refused(const cost::Refusal& refusal, const cli::CostOptions& options, std::ostream& out,
            std::ostream& err) {
    if (options.format == "json") {
        const Json document{{"schema_version", "1.0"},
                            {"cost", Json::array()},
                            {"refused", {{"reason", cost::name_of(refusal.code)}, {"text", refusal.why}}}};
        out << dump_json(document) << "\n";
    }
    err << "gpucheck cost: refused: " << cost::name_of(refusal.code) << ": " << report::plain(refusal.why)
        << "\n";
    return kRefused;
}

int list_models(const cli::CostOptions& options, std::ostream& out, std::ostream& err) {
    const auto loaded = cost::Tables::load(options.machine.specs_folder);
    if (const auto* error = std::get_if<std::string>(&loaded)) return wrong({*error}, err);
    report::Table table(
        {"MODEL", "1e9 WEIGHTS", "ACTIVE", "LAYERS", "KV BYTES/TOKEN", "WEIGHTS", "PUBLISHED AS", "AS OF"});
    Json rows = Json::array();
    for (const cost::LlmModel& model : std::get<cost::Tables>(loaded).models) {
        const cost::ModelSize size = cost::size_of(model);
        const double kv = 2 * cost::kv_values_per_token(model);
        table.add({model.key, cost::three_digits(size.total() / 1e9), cost::three_digits(size.active() / 1e9),
                   cost::three_digits(model.layers), std::to_string(static_cast<long>(kv)),
                   model.native_weights, report::plain(model.identifier), model.as_of});
        rows.push_back({{"model", model.key},
                        {"parameters", size.total()},
                        {"active", size.active()},
                        {"layers", model.layers},
                        {"kv_bytes_per_token_fp16", kv},
                        {"native_weights", model.native_weights},
                        {"identifier", model.identifier},
                        {"source", model.source},
                        {"as_of", model.as_of}});
    }
    if (options.format == "json") {
        out << dump_json(Json{{"schema_version", "1.0"}, {"models", rows}}) << "\n";
    } else {
        for (const std::string& line : table.lines(140)) out << line << "\n";
    }
    return 0;
}

int check_table(const cli::CostOptions& options, std::ostream& out, std::ostream& err) {
    const auto text = read_text_file(options.check_table, std::size_t{16} << 20);
    if (const auto* error = std::get_if<FileError>(&text))
        return wrong({"--check-table " + error->what}, err);
    const auto checked = check_claims(std::get<std::string>(text), options.check_table);
    if (const auto* error = std::get_if<UsageError>(&checked))
        return wrong({"--check-table " + error->what}, err);
    const ClaimReport& report = std::get<ClaimReport>(checked);
    if (options.format == "json") {
        out << dump_json(Json{{"schema_version", "1.0"}, {"wrong", report.wrong}, {"rows", report.json}})
            << "\n";
    } else {
        out << report.text << report.rows << " rows, " << report.wrong << " contradict themselves, "
            << report.unreadable << " without three numbers\n";
    }
    if (report.wrong > 0) return kClaimWrong;
    return report.rows == report.unreadable ? kRefused : 0;
}

// Formats worth a row: what was asked for, else what the model comes in, else what the hardware computes in.
std::vector<Precision> precisions_of(const CostPlan& plan, const cost::LlmModel& model,
                                     const cost::MeasuredMachine& machine) {
    if (plan.weights) return {*plan.weights};
    if (model.native_weights.starts_with("mxfp4")) return {Precision::mxfp4};
    std::vector<Precision> list;
    if (machine.has_fp8 == true) list.push_back(Precision::fp8);
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

int run_cost(const cli::CostOptions& options, const CostSurroundings& surroundings, std::ostream& out,
             std::ostream& err) {
    if (!options.check_table.empty()) return check_table(options, out, err);
    if (options.list_models) return list_models(options, out, err);
    const PlanOutcome planned = plan_cost(options, surroundings);
    if (const auto* error = std::get_if<UsageError>(&planned)) return wrong(*error, err);
    if (const auto* refusal = std::get_if<cost::Refusal>(&planned))
        return refused(*refusal, options, out, err);
    const CostPlan& plan = std::get<CostPlan>(planned);
    CostResult result;
    result.today = surroundings.today;
    result.notes = plan.notes;
    result.compare = plan.machines.size() > 1;
    for (const cost::LlmModel* model : plan.models) {
        for (const PricedMachine& priced : plan.machines)
            add_quotes({options, surroundings, plan}, *model, priced, result);
    }
    if (result.compare) add_winners(result);
    add_shortfalls(plan, result);
    if (options.format == "json") {
        out << dump_json(cost_document(result)) << "\n";
    } else {
        out << (options.format == "csv" ? cost_csv(result) : cost_text(result, options.plot));
    }
    const auto made = [](const Quote& quote) { return quote.estimate.has_value(); };
    if (std::any_of(result.quotes.begin(), result.quotes.end(), made)) return 0;
    if (!result.quotes.empty() && result.quotes.front().refusal) {
        const cost::Refusal& refusal = *result.quotes.front().refusal;
        err << "gpucheck cost: refused: " << cost::name_of(refusal.code) << ": " << report::plain(refusal.why)
            << "\n";
    }
    return kRefused;
}

}  // namespace gpucheck
