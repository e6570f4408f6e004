// Plans, quotes, compares and prints; see cost_command.h.
#include "agent/cost_command.h"

#include <algorithm>
#include <ostream>

#include "agent/cost_answer.h"
#include "agent/cost_claims.h"
#include "agent/cost_file.h"
#include "agent/cost_plan.h"
#include "agent/cost_render.h"
#include "agent/report/escape.h"
#include "agent/report/exit_status.h"
#include "agent/report/layout.h"

namespace gpucheck {
namespace {

using cost::Quote;

constexpr int kClaimWrong = 1, kRefused = 2;

int wrong(const UsageError& error, std::ostream& err) {
    err << "gpucheck cost: " << report::plain(error.what) << "\n";
    return kUsage;
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

}  // namespace

int run_cost(const cli::CostOptions& options, const CostSurroundings& surroundings, std::ostream& out,
             std::ostream& err) {
    if (!options.check_table.empty()) return check_table(options, out, err);
    if (options.list_models) return list_models(options, out, err);
    const auto answered = answer_cost(options, surroundings);
    if (const auto* error = std::get_if<UsageError>(&answered)) return wrong(*error, err);
    if (const auto* refusal = std::get_if<cost::Refusal>(&answered))
        return refused(*refusal, options, out, err);
    const CostResult& result = std::get<Answer>(answered).result;
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
