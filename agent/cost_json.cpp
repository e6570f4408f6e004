// Quotes as JSON and CSV; see cost_render.h.
#include <array>
#include <cstdio>

#include "agent/cost_render.h"

namespace gpucheck {
namespace {

using cost::Quote;

Json maybe(std::optional<double> value) {
    return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json basis_json(const Quote& quote) {
    const cost::MeasuredMachine& machine = *quote.machine;
    Json basis;
    basis["board"] = text_or_null(machine.board);
    basis["kind"] = cost::name_of(machine.basis);
    basis["source"] = text_or_null(machine.source);
    basis["bw_gbs"] = machine.bandwidth_bytes_s ? Json(*machine.bandwidth_bytes_s / 1e9) : Json(nullptr);
    const bool eight = quote.load.weights == cost::Precision::fp8;
    const bool native = quote.load.weights == cost::Precision::fp16 || !quote.weights_only_stored;
    std::optional<double> rate = machine.fp16_flop_s;
    if (native && quote.load.weights != cost::Precision::fp16)
        rate = eight ? machine.fp8_flop_s : machine.fp4_flop_s;
    basis["tflops"] = rate ? Json(*rate / 1e12) : Json(nullptr);
    basis["tflops_dtype"] = native ? cost::name_of(quote.load.weights) : "fp16";
    basis["capacity_bytes"] = maybe(machine.capacity_bytes);
    basis["fabric"] = cost::name_of(machine.fabric);
    basis["price_usd_gpu_hr"] = maybe(quote.price.usd_gpu_hour);
    basis["price_source"] = quote.price.usd_gpu_hour ? text_or_null(quote.price.source) : Json(nullptr);
    basis["price_as_of"] = quote.price.usd_gpu_hour ? text_or_null(quote.price.as_of) : Json(nullptr);
    basis["price_market"] = quote.price.usd_gpu_hour ? text_or_null(quote.price.market) : Json(nullptr);
    basis["utilization"] = quote.utilization;
    return basis;
}

Json reference_json(const Quote& quote) {
    const cost::ReferenceRow* row = quote.reference;
    if (row == nullptr) return nullptr;
    return {{"source", row->source},
            {"date", row->as_of},
            {"engine", row->engine},
            {"version", text_or_null(row->round)},
            {"precision", cost::name_of(row->precision)},
            {"isl", maybe(row->isl)},
            {"osl", maybe(row->osl)},
            {"scenario", row->scenario},
            {"tokens_per_s_per_gpu", row->tokens_per_s_per_gpu},
            {"n_gpus", row->n_gpus}};
}

std::string csv_cell(const std::string& text) {
    std::string cell = text;
    // A cell that begins like a formula is run by spreadsheets.
    if (!cell.empty() && std::string("=+-@\t\r").find(cell[0]) != std::string::npos) cell.insert(0, "'");
    std::string quoted(1, '"');
    for (const char c : cell) {
        if (c == '"') quoted += '"';
        quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return quoted + '"';
}

std::string csv_number(std::optional<double> value) {
    if (!value) return {};
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.6g", *value);
    return text.data();
}

}  // namespace

Json cost_json(const Quote& quote) {
    const auto& made = quote.estimate;
    const auto known = [&](double value) { return made ? Json(value) : Json(nullptr); };
    Json row;
    row["model"] = quote.model->key;
    row["precision"] = cost::name_of(quote.load.weights);
    row["weight_only"] = quote.weights_only_stored;
    row["kv_precision"] = cost::name_of(quote.load.kv);
    row["isl"] = quote.load.isl;
    row["osl"] = quote.load.osl;
    row["point"] = cost::name_of(quote.point);
    row["concurrency"] = made ? Json(made->batch) : Json(nullptr);
    row["n_gpus"] = quote.load.group;
    row["instance_gpus"] = quote.machine->gpus;
    const bool fits_not = quote.refusal && quote.refusal->code == cost::RefusalCode::does_not_fit;
    row["fits"] = made ? Json(true) : fits_not ? Json(false) : Json(nullptr);
    row["max_concurrency"] = made ? Json(made->max_concurrency) : Json(nullptr);
    row["tokens_per_s"] = made ? Json(made->tokens_per_s) : Json(nullptr);
    row["tokens_per_s_instance"] = known(quote.tokens_per_s_instance());
    row["tokens_per_s_per_gpu"] = known(quote.tokens_per_s_per_gpu());
    row["tokens_per_s_per_user"] = made ? Json(made->tokens_per_s_per_user) : Json(nullptr);
    row["ttft_ms"] = made ? Json(made->prefill_s * 1e3) : Json(nullptr);
    row["usd_per_m_input"] = maybe(quote.usd.input);
    row["usd_per_m_output"] = maybe(quote.usd.output);
    row["usd_per_m_output_blended"] = maybe(quote.usd.blended);
    row["usd_per_m_output_blended_at_utilization"] = maybe(quote.usd_at_utilization.blended);
    row["gpu_tokens_per_joule"] = maybe(quote.gpu_tokens_per_joule);
    row["band"] =
        made ? Json{{"low", quote.band.low}, {"high", quote.band.high}, {"coverage", quote.band.coverage}}
             : Json(nullptr);
    row["method"] = cost::name_of(quote.method);
    row["reason"] = quote.refusal ? Json(cost::name_of(quote.refusal->code)) : Json(nullptr);
    row["reason_text"] = quote.refusal ? Json(quote.refusal->why) : Json(nullptr);
    row["basis"] = basis_json(quote);
    row["reference"] = reference_json(quote);
    row["warnings"] = quote.warnings;
    return row;
}

Json cost_document(const CostResult& result) {
    Json document;
    document["schema_version"] = "1.0";
    document["date"] = result.today;
    document["cost"] = Json::array();
    for (const Quote& quote : result.quotes) document["cost"].push_back(cost_json(quote));
    document["winners"] = Json::array();
    for (const Winner& winner : result.winners) {
        document["winners"].push_back(
            {{"model", winner.model},
             {"point", winner.point},
             {"isl", winner.isl},
             {"osl", winner.osl},
             {"board", text_or_null(winner.board)},
             {"precision", text_or_null(winner.weights)},
             {"runner_up", text_or_null(winner.runner_up)},
             {"runner_up_precision", text_or_null(winner.runner_up_weights)},
             {"by", winner.by_price ? "usd_per_m_output_blended" : "tokens_per_s_per_gpu"},
             {"best", winner.board.empty() ? Json(nullptr) : Json(winner.best)},
             {"second", winner.runner_up.empty() ? Json(nullptr) : Json(winner.second)},
             {"too_close_to_call", winner.close}});
    }
    document["shortfalls"] = result.shortfalls;
    document["notes"] = result.notes;
    return document;
}

std::string cost_csv(const CostResult& result) {
    std::string text =
        "board,model,weights,kv,isl,osl,point,group_gpus,instance_gpus,concurrency,tokens_per_s,tokens_per_s_"
        "per_gpu,"
        "tokens_per_s_per_user,ttft_ms,usd_per_m_input,usd_per_m_output,usd_per_m_output_blended,band_low,"
        "band_high,"
        "method,basis,price_usd_gpu_hr,price_as_of,reason\n";
    for (const Quote& quote : result.quotes) {
        const auto& made = quote.estimate;
        const auto number = [&](double value) { return made ? csv_number(value) : std::string(); };
        const std::vector<std::string> cells{
            csv_cell(quote.machine->board),
            csv_cell(quote.model->key),
            std::string(cost::name_of(quote.load.weights)),
            std::string(cost::name_of(quote.load.kv)),
            csv_number(quote.load.isl),
            csv_number(quote.load.osl),
            std::string(cost::name_of(quote.point)),
            std::to_string(quote.load.group),
            std::to_string(quote.machine->gpus),
            made ? csv_number(made->batch) : "",
            made ? csv_number(made->tokens_per_s) : "",
            number(quote.tokens_per_s_per_gpu()),
            made ? csv_number(made->tokens_per_s_per_user) : "",
            made ? csv_number(made->prefill_s * 1e3) : "",
            csv_number(quote.usd.input),
            csv_number(quote.usd.output),
            csv_number(quote.usd.blended),
            number(quote.band.low),
            number(quote.band.high),
            std::string(cost::name_of(quote.method)),
            std::string(cost::name_of(quote.machine->basis)),
            csv_number(quote.price.usd_gpu_hour),
            csv_cell(quote.price.as_of),
            std::string(quote.refusal ? cost::name_of(quote.refusal->code) : "")};
        for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + cells[i];
        text += '\n';
    }
    return text;
}

}  // namespace gpucheck
