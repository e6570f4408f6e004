// Model shapes from config.json; see hf_config.h.
#include "checks/cost/data/hf_config.h"

#include <algorithm>
#include <array>

#include "checks/specs/data_file.h"
#include "checks/specs/row_reader.h"

namespace gpucheck::cost {
namespace {

constexpr std::uint64_t kWide = 10'000'000, kMany = 100'000;

struct Config {
    const Json& json;
    RowReader& reader;

    bool has(std::string_view key) const {
        const Json* found = RowReader::member(json, key);
        return found != nullptr && !found->is_null();
    }
    double need(std::string_view key, std::uint64_t most = kWide) const {
        if (!has(key)) {
            reader.complain(std::string(key) + " is missing");
            return 0;
        }
        return static_cast<double>(reader.whole(json, key, 0, most).value_or(0));
    }
    // The config classes of these layouts define absent as `otherwise`.
    double either(std::string_view key, double otherwise, std::uint64_t most = kWide) const {
        return has(key) ? need(key, most) : otherwise;
    }
};

constexpr std::array<std::string_view, 4> kDense{"llama", "mistral", "qwen2", "qwen3"};

void read_heads(const Config& config, std::string_view type, LlmModel& model) {
    model.kv_heads = config.either("num_key_value_heads", model.heads, kMany);
    if (config.has("head_dim")) {
        model.head_dim = config.need("head_dim", kMany);
    } else if (type == "qwen3" || type == "qwen3_moe" || type == "gpt_oss") {
        config.reader.complain(
            "head_dim is missing: in this layout it is not hidden_size / num_attention_heads");
    } else if (model.heads > 0) {
        model.head_dim = model.hidden / model.heads;
    }
}

void read_window(const Config& config, std::string_view type, LlmModel& model) {
    const bool unused =
        config.has("use_sliding_window") && !config.reader.flag(config.json, "use_sliding_window");
    if (!config.has("sliding_window") || unused) return;
    const double window = config.need("sliding_window", 1'000'000'000);
    const Json* layers =
        config.has("layer_types") ? config.reader.array(config.json, "layer_types") : nullptr;
    if (layers != nullptr && !layers->empty()) {
        const auto windowed = std::count_if(layers->begin(), layers->end(), [](const Json& layer) {
            return layer.is_string() && layer.get_ref<const std::string&>() == "sliding_attention";
        });
        model.window_fraction = static_cast<double>(windowed) / static_cast<double>(layers->size());
    } else if (type == "gpt_oss") {
        model.window_fraction = 0.5;  // the layout's own rule: every second layer
    } else {
        model.note =
            "the sliding window of " + std::to_string(static_cast<long>(window)) + " tokens is not modelled";
        return;
    }
    if (model.window_fraction > 0) model.window = window;
}

void read_latent(const Config& config, LlmModel& model) {
    model.q_lora = config.either("q_lora_rank", 0);
    model.kv_lora = config.need("kv_lora_rank");
    model.nope_dim = config.need("qk_nope_head_dim", kMany);
    model.rope_dim = config.need("qk_rope_head_dim", kMany);
    model.v_dim = config.need("v_head_dim", kMany);
}

void read_deepseek(const Config& config, LlmModel& model) {
    read_latent(config, model);
    if (!config.has("n_routed_experts")) {
        model.ffn = config.need("intermediate_size");
        return;
    }
    model.ffn = config.need("moe_intermediate_size");
    model.experts = config.need("n_routed_experts", kMany);
    model.top_k = config.need("num_experts_per_tok", kMany);
    model.shared_experts = config.either("n_shared_experts", 0, kMany);
    model.first_dense_layers = config.either("first_k_dense_replace", 0, kMany);
    model.dense_ffn = config.need("intermediate_size");
    if (config.either("moe_layer_freq", 1, kMany) != 1)
        config.reader.complain("moe_layer_freq other than 1 is not known");
}

void read_qwen3_moe(const Config& config, LlmModel& model) {
    model.ffn = config.need("moe_intermediate_size");
    model.experts = config.need(config.has("num_experts") ? "num_experts" : "n_routed_experts", kMany);
    model.top_k = config.need("num_experts_per_tok", kMany);
    if (config.either("decoder_sparse_step", 1, kMany) != 1) {
        config.reader.complain("decoder_sparse_step other than 1 is not known");
    }
    const Json* dense =
        config.has("mlp_only_layers") ? config.reader.array(config.json, "mlp_only_layers") : nullptr;
    if (dense != nullptr && !dense->empty()) config.reader.complain("mlp_only_layers is not known");
}

void read_mixtral(const Config& config, LlmModel& model) {
    model.ffn = config.need("intermediate_size");
    model.experts = config.need("num_local_experts", kMany);
    model.top_k = config.need("num_experts_per_tok", kMany);
}

void read_gpt_oss(const Config& config, LlmModel& model) {
    model.ffn = config.need("intermediate_size");
    model.experts = config.need("num_local_experts", kMany);
    model.top_k =
        config.need(config.has("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token", kMany);
}

// What the file says about the format of the published weights.
std::string native_weights(const Json& json, std::string_view type) {
    const Json* quantised = RowReader::member(json, "quantization_config");
    const Json* method = quantised != nullptr ? RowReader::member(*quantised, "quant_method") : nullptr;
    if (method != nullptr && method->is_string()) return method->get<std::string>().substr(0, 40);
    const Json* dtype = RowReader::member(json, "torch_dtype");
    if (dtype == nullptr) dtype = RowReader::member(json, "dtype");
    if (dtype != nullptr && dtype->is_string()) return dtype->get<std::string>().substr(0, 40);
    return type == "gpt_oss" ? "mxfp4" : "not stated";
}

}  // namespace

std::variant<LlmModel, std::string> read_hf_config(std::string_view text, const std::string& name) {
    auto parsed = parse_data(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) return name + ": " + *error;
    const Json& json = std::get<Json>(parsed);
    if (!json.is_object()) return name + ": not an object";
    RowReader reader(name);
    const std::string type = reader.text(json, "model_type");
    const Config config{json, reader};
    LlmModel model;
    model.key = name;
    model.identifier = name;
    model.layers = config.need("num_hidden_layers", kMany);
    model.hidden = config.need("hidden_size");
    model.heads = config.need("num_attention_heads", kMany);
    model.vocab = config.need("vocab_size", 1'000'000'000);
    model.tied_embeddings = config.has("tie_word_embeddings") && reader.flag(json, "tie_word_embeddings");
    if (type == "deepseek_v3" || type == "deepseek_v2") {
        read_deepseek(config, model);
    } else {
        read_heads(config, type, model);
        read_window(config, type, model);
        if (std::find(kDense.begin(), kDense.end(), type) != kDense.end()) {
            model.ffn = config.need("intermediate_size");
        } else if (type == "qwen3_moe") {
            read_qwen3_moe(config, model);
        } else if (type == "mixtral") {
            read_mixtral(config, model);
        } else if (type == "gpt_oss") {
            read_gpt_oss(config, model);
        } else {
            reader.complain(
                "model_type '" + type.substr(0, 40) +
                "' is none of llama, mistral, qwen2, qwen3, qwen3_moe, mixtral, deepseek_v2, deepseek_v3, "
                "gpt_oss");
        }
    }
    if (!reader.ok()) return reader.error();
    model.native_weights = native_weights(json, type);
    model.source = name;
    if (const auto why = invalid_shape(model)) return name + ": " + *why;
    return model;
}

}  // namespace gpucheck::cost
