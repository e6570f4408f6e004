// Quotes as a table for people; see cost_render.h. Three significant digits: more would suggest accuracy that
// is not there.
#include <algorithm>
#include <cmath>
#include <set>

#include "agent/cost_render.h"
#include "agent/report/escape.h"
#include "agent/report/layout.h"

namespace gpucheck {
namespace {

using cost::Quote;
using cost::three_digits;

constexpr std::size_t kWidth = 140, kTableWidth = 170;

std::string shown(std::optional<double> value) {
    return value ? three_digits(*value) : "-";
}

std::string point_words(const Quote& quote) {
    switch (quote.point) {
        case cost::Point::single_user:
            return "1 user";
        case cost::Point::interactive:
            return "30 tok/s";
        case cost::Point::maximum:
            return "most";
        case cost::Point::fixed:
            return "asked";
    }
    return "";
}

std::string precision_words(const Quote& quote) {
    std::string text(cost::name_of(quote.load.weights));
    if (quote.weights_only_stored) text += " stored";
    if (quote.load.kv != cost::Precision::fp8 && quote.load.weights != cost::Precision::fp16)
        text += ", kv " + std::string(cost::name_of(quote.load.kv));
    return text;
}

std::string rate_words(const cost::MeasuredMachine& machine) {
    std::string text;
    const auto add = [&](std::optional<double> value, double unit, const std::string& before,
                         const std::string& after) {
        if (value) text += (text.empty() ? "" : ", ") + before + three_digits(*value / unit) + after;
    };
    add(machine.bandwidth_bytes_s, 1e9, "", " GB/s");
    add(machine.fp16_flop_s, 1e12, "fp16 ", "");
    add(machine.fp8_flop_s, 1e12, "fp8 ", "");
    add(machine.fp4_flop_s, 1e12, "fp4 ", "");
    if (machine.fp16_flop_s) text += " TFLOPS";
    add(machine.capacity_bytes, 1e9, "", " GB");
    add(machine.power_w, 1, "", " W");
    return text + ", fabric " + std::string(cost::name_of(machine.fabric));
}

std::string price_words(const cost::Price& price) {
    if (!price.usd_gpu_hour) return "no price, so no USD figure";
    std::string text = three_digits(*price.usd_gpu_hour) + " USD per GPU-hour (" + price.source;
    if (!price.as_of.empty()) text += ", " + price.as_of;
    return text + ")";
}

std::string machine_lines(const Quote& quote) {
    const cost::MeasuredMachine& machine = *quote.machine;
    const std::string head = std::to_string(machine.gpus) + " x " +
                             (machine.board_name.empty() ? machine.board : machine.board_name) + ": ";
    return report::paragraph("", report::plain(head + rate_words(machine)), kWidth) +
           report::paragraph("  ", report::plain("rates: " + machine.source), kWidth) +
           report::paragraph("  ", report::plain("price: " + price_words(quote.price)), kWidth);
}

std::vector<std::string> cells(const Quote& quote, bool compare) {
    std::vector<std::string> row{report::plain(quote.model->key)};
    if (compare) row.push_back(quote.machine->board);
    row.insert(row.end(), {precision_words(quote), std::to_string(quote.load.group), point_words(quote)});
    const auto& made = quote.estimate;
    if (!made) {
        row.insert(row.end(), 9, "-");
        row.insert(row.end(), {"", "-"});
        return row;
    }
    row.insert(row.end(),
               {cost::count_words(std::floor(made->batch)), three_digits(quote.tokens_per_s_instance()),
                three_digits(quote.tokens_per_s_per_gpu()), three_digits(made->tokens_per_s_per_user),
                three_digits(made->prefill_s * 1e3), shown(quote.usd.input), shown(quote.usd.output),
                shown(quote.usd.blended), shown(quote.usd_at_utilization.blended),
                quote.gpu_tokens_per_joule ? three_digits(*quote.gpu_tokens_per_joule) : std::string(),
                three_digits(quote.band.low / quote.load.group) + "-" +
                    three_digits(quote.band.high / quote.load.group)});
    return row;
}

std::string table_text(const CostResult& result, double isl, double osl) {
    std::vector<std::string> header{"MODEL"};
    if (result.compare) header.emplace_back("BOARD");
    header.insert(header.end(), {"WEIGHTS", "GPUS", "AT", "USERS", "TOK/S", "/GPU", "/USER", "TTFT MS",
                                 "$/M IN", "$/M OUT", "BLENDED", "AT UTIL", "TOK/J", "LIKELY /GPU"});
    report::Table table(header);
    std::string refusals;
    std::set<std::string> told;
    for (const Quote& quote : result.quotes) {
        if (quote.load.isl != isl || quote.load.osl != osl) continue;
        table.add(cells(quote, result.compare));
        if (!quote.refusal) continue;
        const std::string text = quote.model->key + (result.compare ? " on " + quote.machine->board : "") +
                                 ", " + precision_words(quote) + ", " + point_words(quote) + ": " +
                                 std::string(cost::name_of(quote.refusal->code)) + ": " + quote.refusal->why;
        if (told.insert(text).second) refusals += report::paragraph("  ", report::plain(text), kWidth);
    }
    std::string text = "\n" + cost::count_words(isl) + " tokens in, " + cost::count_words(osl) + " out\n";
    for (const std::string& line : table.lines(kTableWidth)) text += line + "\n";
    return text + (refusals.empty() ? "" : "Not estimated:\n" + refusals);
}

std::string winner_text(const Winner& winner) {
    const std::string where = winner.model + ", " + cost::count_words(winner.isl) + " in " +
                              cost::count_words(winner.osl) + " out, " + winner.point + ": ";
    const std::string unit =
        winner.by_price ? " USD per million output tokens" : " tokens/s per GPU (prices unknown)";
    if (winner.board.empty()) return where + "no board could be estimated";
    std::string text =
        where + winner.board + " (" + winner.weights + ") at " + three_digits(winner.best) + unit;
    if (winner.runner_up.empty()) return text + "; nobody else could be estimated";
    text += "; then " + winner.runner_up + " (" + winner.runner_up_weights + ") at " +
            three_digits(winner.second);
    return text + (winner.close ? ": too close to call, the model tells boards apart by 15 %" : "");
}

std::string list_text(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return {};
    std::string text = "\n" + title + "\n";
    for (const std::string& line : lines) text += report::paragraph("  ", report::plain(line), kWidth);
    return text;
}

std::vector<std::string> footnotes(const CostResult& result) {
    std::vector<std::string> notes;
    const auto add = [&](const std::string& text) {
        if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
    };
    for (const Quote& quote : result.quotes) {
        if (!quote.estimate) continue;
        if (quote.method == cost::Method::analytic) {
            add("analytic, " + std::string(cost::name_of(quote.machine->basis)) +
                " rates: about 90 % of tuned healthy servers lie within x/" +
                three_digits(quote.band.factor) +
                (quote.model->mixture() ? " (mixtures of experts)" : " (dense models)"));
        } else {
            add("reference_scaled: " + quote.reference->source + ", " + quote.reference->submitter + ", " +
                quote.reference->as_of + ", " + quote.reference->scenario + ", " + quote.reference->engine +
                ": " + three_digits(quote.reference->tokens_per_s_per_gpu) + " tokens/s per GPU, band x/" +
                three_digits(quote.band.factor));
        }
        for (const std::string& warning : quote.warnings) add(quote.machine->board + ": " + warning);
        if (quote.weights_only_stored)
            add("\"stored\": the GPU computes in 16 bit, only the weights are in that format");
        if (quote.machine->fabric == cost::Fabric::xgmi && quote.load.group > 1) {
            add("xGMI all-reduce times are assumed, not measured: groups of Instinct GPUs are indicative");
        }
        if (!quote.model->note.empty()) add(quote.model->key + ": " + quote.model->note);
    }
    add("output tokens; tuned engine, no speculative decoding, prefix caching or disaggregation; TTFT "
        "without a queue");
    return notes;
}

}  // namespace

std::string cost_text(const CostResult& result, bool plot) {
    std::string text;
    std::vector<const cost::MeasuredMachine*> machines;
    std::vector<std::pair<double, double>> lengths;
    for (const Quote& quote : result.quotes) {
        if (std::find(machines.begin(), machines.end(), quote.machine) == machines.end()) {
            machines.push_back(quote.machine);
            text += machine_lines(quote);
        }
        const std::pair length{quote.load.isl, quote.load.osl};
        if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) lengths.push_back(length);
    }
    for (const auto& [isl, osl] : lengths) text += table_text(result, isl, osl);
    std::vector<std::string> winners;
    for (const Winner& winner : result.winners) winners.push_back(winner_text(winner));
    text += list_text("Cheapest:", winners) + list_text("What is slow, in money:", result.shortfalls);
    if (plot) {
        std::vector<std::string> drawn;
        for (const auto& [isl, osl] : lengths) {
            std::vector<std::string> models;
            for (const Quote& quote : result.quotes) {
                if (std::find(models.begin(), models.end(), quote.model->key) == models.end()) {
                    models.push_back(quote.model->key);
                }
            }
            for (const std::string& model : models) {
                std::vector<Curve> curves;
                std::set<std::string> names;
                for (const Quote& quote : result.quotes) {
                    if (quote.model->key != model || quote.load.isl != isl || quote.load.osl != osl) continue;
                    Curve curve = curve_of(quote);
                    if (!curve.points.empty() && names.insert(curve.name).second)
                        curves.push_back(std::move(curve));
                }
                if (curves.empty()) continue;
                text += "\n" + report::plain(model) + ", " + cost::count_words(isl) + " in " +
                        cost::count_words(osl) +
                        " out: tokens/s of one GPU (up) against tokens/s of one user (right)\n" +
                        draw_curves(curves);
            }
        }
    }
    return text + list_text("Read with:", footnotes(result)) + list_text("Notes:", result.notes);
}

std::vector<std::string> cost_lines(const CostResult& result) {
    std::vector<std::string> lines;
    for (const Quote& quote : result.quotes) {
        if (lines.empty())
            lines.push_back("measured, the slowest GPU: " + rate_words(*quote.machine) + "; " +
                            price_words(quote.price));
        if (quote.point != cost::Point::interactive) continue;
        const std::string head = quote.model->key + " in " + precision_words(quote) + ": ";
        if (!quote.estimate) {
            const std::string why = quote.refusal ? quote.refusal->why : std::string("not estimated");
            lines.push_back(head + why);
            continue;
        }
        std::string text =
            head + three_digits(quote.tokens_per_s_instance()) + " output tokens/s of the instance (" +
            three_digits(quote.band.low * quote.replicas()) + " to " +
            three_digits(quote.band.high * quote.replicas()) + ") with at least 30 for each user";
        if (quote.usd.blended) text += ", " + three_digits(*quote.usd.blended) + " USD per million";
        lines.push_back(text);
    }
    return lines;
}

}  // namespace gpucheck
