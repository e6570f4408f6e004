// Rows of the data files; see rows.h.
#include "checks/cost/data/rows.h"

namespace gpucheck::cost {
namespace {

constexpr std::uint64_t kWide = 10'000'000, kMany = 100'000;

double count(RowReader& reader, const Json& json, std::string_view key, std::uint64_t least,
             std::uint64_t most) {
    const auto value = reader.whole(json, key, least, most);
    if (!value && RowReader::member(json, key) == nullptr) reader.complain(std::string(key) + " is missing");
    return static_cast<double>(value.value_or(0));
}

double optional_count(RowReader& reader, const Json& json, std::string_view key, std::uint64_t most) {
    return static_cast<double>(reader.whole(json, key, 0, most).value_or(0));
}

double figure(RowReader& reader, const Json& json, std::string_view key, double least, double most) {
    const auto value = reader.number(json, key, least, most);
    if (!value && RowReader::member(json, key) == nullptr) reader.complain(std::string(key) + " is missing");
    return value.value_or(0);
}

std::optional<double> rate(RowReader& reader, const Json& json, std::string_view key) {
    const auto tflops = reader.number(json, key, 1, 1e6);
    return tflops ? std::optional(*tflops * 1e12) : std::nullopt;
}

std::string date(RowReader& reader, const Json& json) {
    std::string text = reader.text(json, "as_of");
    if (!days_between(text, text))
        reader.complain("as_of is not a date like 2026-10-08 or a month like 2026-10");
    return text;
}

std::vector<std::string> unverified(RowReader& reader, const Json& json) {
    std::vector<std::string> fields;
    const Json* list = reader.array(json, "unverified");
    if (list == nullptr) return fields;
    for (const Json& field : *list) {
        if (!field.is_string() || RowReader::member(json, field.get_ref<const std::string&>()) == nullptr) {
            reader.complain("unverified names something that is no field of the row");
            return {};
        }
        fields.push_back(field.get<std::string>());
    }
    return fields;
}

void read_latent(const Json& row, RowReader& reader, LlmModel& model) {
    const Json* latent = reader.group(row, "latent", {"q_lora", "kv_lora", "nope", "rope", "value"});
    if (latent == nullptr) {
        model.kv_heads = count(reader, row, "kv_heads", 1, kMany);
        model.head_dim = count(reader, row, "head_dim", 1, kMany);
        return;
    }
    model.q_lora = optional_count(reader, *latent, "q_lora", kWide);
    model.kv_lora = count(reader, *latent, "kv_lora", 1, kWide);
    model.nope_dim = count(reader, *latent, "nope", 1, kMany);
    model.rope_dim = count(reader, *latent, "rope", 1, kMany);
    model.v_dim = count(reader, *latent, "value", 1, kMany);
}

}  // namespace

LlmModel read_model(const Json& row, RowReader& reader) {
    LlmModel model;
    if (!reader.object(
            row, "the row",
            {"key", "identifier", "layers", "hidden", "heads", "kv_heads", "head_dim", "latent", "ffn",
             "vocab", "tied_embeddings", "experts", "window", "native_weights", "source", "as_of", "note"})) {
        return model;
    }
    model.key = reader.text(row, "key");
    model.identifier = reader.text(row, "identifier");
    model.layers = count(reader, row, "layers", 1, kMany);
    model.hidden = count(reader, row, "hidden", 1, kWide);
    model.heads = count(reader, row, "heads", 1, kMany);
    model.ffn = count(reader, row, "ffn", 1, kWide);
    model.vocab = count(reader, row, "vocab", 1, 1'000'000'000);
    model.tied_embeddings = reader.flag(row, "tied_embeddings");
    read_latent(row, reader, model);
    if (const Json* experts = reader.group(
            row, "experts", {"count", "per_token", "shared", "first_dense_layers", "dense_ffn"})) {
        model.experts = count(reader, *experts, "count", 1, kMany);
        model.top_k = count(reader, *experts, "per_token", 1, kMany);
        model.shared_experts = optional_count(reader, *experts, "shared", kMany);
        model.first_dense_layers = optional_count(reader, *experts, "first_dense_layers", kMany);
        model.dense_ffn = optional_count(reader, *experts, "dense_ffn", kWide);
    }
    if (const Json* window = reader.group(row, "window", {"tokens", "fraction_of_layers"})) {
        model.window = count(reader, *window, "tokens", 1, 1'000'000'000);
        model.window_fraction = figure(reader, *window, "fraction_of_layers", 0, 1);
    }
    model.native_weights = reader.text(row, "native_weights");
    model.source = reader.text(row, "source");
    model.as_of = date(reader, row);
    model.note = reader.optional_text(row, "note").value_or("");
    if (const auto why = invalid_shape(model)) reader.complain(*why);
    return model;
}

BoardRates read_rates(const Json& row, RowReader& reader) {
    BoardRates rates;
    if (!reader.object(row, "the row",
                       {"board", "bandwidth_gb_s", "fp16_tflops", "fp8_tflops", "fp4_tflops", "capacity_gb",
                        "fabric", "bandwidth_test", "source", "as_of", "unverified", "note"})) {
        return rates;
    }
    MeasuredMachine& machine = rates.machine;
    machine.board = reader.text(row, "board");
    machine.basis = Basis::published;
    machine.bandwidth_bytes_s = figure(reader, row, "bandwidth_gb_s", 1, 1e6) * 1e9;
    machine.fp16_flop_s = figure(reader, row, "fp16_tflops", 1, 1e6) * 1e12;
    machine.fp8_flop_s = rate(reader, row, "fp8_tflops");
    machine.fp4_flop_s = rate(reader, row, "fp4_tflops");
    machine.has_fp8 = machine.fp8_flop_s.has_value();
    machine.has_fp4 = machine.fp4_flop_s.has_value();
    machine.capacity_bytes = figure(reader, row, "capacity_gb", 1, 1e6) * 1e9;
    const auto fabric = fabric_from(reader.text(row, "fabric"));
    if (!fabric) reader.complain("fabric is none of nvlink3, nvlink4, nvlink5, pcie4, xgmi, unknown");
    machine.fabric = fabric.value_or(Fabric::unknown);
    rates.bandwidth_test = reader.text(row, "bandwidth_test");
    const std::string source = reader.text(row, "source");
    rates.as_of = date(reader, row);
    rates.unverified = unverified(reader, row);
    machine.source = "published rates of healthy boards: " + source;
    for (std::size_t i = 0; i < rates.unverified.size(); ++i) {
        machine.source += (i == 0 ? "; unverified: " : ", ") + rates.unverified[i];
    }
    return rates;
}

ReferenceRow read_reference(const Json& row, RowReader& reader) {
    ReferenceRow reference;
    if (!reader.object(row, "the row",
                       {"board", "model", "precision", "scenario", "tokens_per_s_per_gpu", "n_gpus", "isl",
                        "osl", "engine", "round", "submitter", "as_of", "source", "unverified"})) {
        return reference;
    }
    reference.board = reader.text(row, "board");
    reference.model = reader.text(row, "model");
    const auto precision = precision_from(reader.text(row, "precision"));
    if (!precision) reader.complain("precision is none of fp16, fp8, fp4, mxfp4");
    reference.precision = precision.value_or(Precision::fp16);
    reference.scenario = reader.text(row, "scenario");
    if (reference.scenario != "offline" && reference.scenario != "server" &&
        reference.scenario != "interactive") {
        reader.complain("scenario is none of offline, server, interactive");
    }
    reference.tokens_per_s_per_gpu = figure(reader, row, "tokens_per_s_per_gpu", 1e-3, 1e9);
    reference.n_gpus = static_cast<unsigned>(count(reader, row, "n_gpus", 1, 100'000));
    reference.isl = reader.number(row, "isl", 1, 1e9);
    reference.osl = reader.number(row, "osl", 1, 1e9);
    reference.engine = reader.text(row, "engine");
    reference.round = reader.optional_text(row, "round").value_or("");
    reference.submitter = reader.optional_text(row, "submitter").value_or("");
    reference.source = reader.text(row, "source");
    reference.as_of = date(reader, row);
    unverified(reader, row);
    return reference;
}

PriceRow read_price(const Json& row, RowReader& reader) {
    PriceRow price;
    if (!reader.object(row, "the row",
                       {"board", "market", "usd_per_gpu_hour", "as_of", "source", "unverified", "note"})) {
        return price;
    }
    price.board = reader.text(row, "board");
    price.price.market = reader.text(row, "market");
    price.price.usd_gpu_hour = figure(reader, row, "usd_per_gpu_hour", 0.01, 1000);
    price.price.as_of = date(reader, row);
    price.price.source = reader.text(row, "source");
    if (!unverified(reader, row).empty()) price.price.source += " (unverified)";
    reader.optional_text(row, "note");
    return price;
}

FacilityPower read_power(const Json& row, RowReader& reader) {
    FacilityPower power;
    if (!reader.object(row, "the row", {"board", "kw_per_gpu", "as_of", "source"})) return power;
    power.board = reader.text(row, "board");
    power.kw_per_gpu = figure(reader, row, "kw_per_gpu", 0.01, 100);
    power.as_of = date(reader, row);
    power.source = reader.text(row, "source");
    return power;
}

}  // namespace gpucheck::cost
