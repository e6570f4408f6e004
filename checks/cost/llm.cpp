// Weights and cache of a model; see llm.h.
#include "checks/cost/llm.h"

#include <algorithm>
#include <cmath>

namespace gpucheck::cost {
namespace {

// Weights of one layer's attention: query, output, key and value projections.
double attention_weights(const LlmModel& m) {
    if (!m.latent()) return 2 * m.hidden * m.heads * m.head_dim + 2 * m.hidden * m.kv_heads * m.head_dim;
    const double key = m.nope_dim + m.rope_dim;
    const double query =
        m.q_lora > 0 ? m.hidden * m.q_lora + m.q_lora * m.heads * key : m.hidden * m.heads * key;
    return query + m.hidden * (m.kv_lora + m.rope_dim) + m.kv_lora * m.heads * (m.nope_dim + m.v_dim) +
           m.heads * m.v_dim * m.hidden;
}

bool whole(double value, double least, double most) {
    return value >= least && value <= most && std::floor(value) == value;  // false for NaN
}

}  // namespace

ModelSize size_of(const LlmModel& m) {
    ModelSize size;
    size.head = m.vocab * m.hidden;
    size.embedding = m.tied_embeddings ? 0 : size.head;
    size.dense = m.layers * attention_weights(m);
    const double mlp = 3 * m.hidden * m.ffn;
    if (!m.mixture()) {
        size.dense += m.layers * mlp;
        return size;
    }
    const double mixed = m.layers - m.first_dense_layers;
    size.dense += mixed * (m.shared_experts * mlp + m.hidden * m.experts) +
                  m.first_dense_layers * 3 * m.hidden * m.dense_ffn;
    size.expert = mixed * m.experts * mlp;
    size.expert_active = mixed * m.top_k * mlp;
    return size;
}

double kv_values_per_token(const LlmModel& m) {
    return m.latent() ? m.layers * (m.kv_lora + m.rope_dim) : 2 * m.layers * m.kv_heads * m.head_dim;
}

double context_of(const LlmModel& m, double tokens) {
    if (m.window <= 0) return tokens;
    return (1 - m.window_fraction) * tokens + m.window_fraction * std::min(tokens, m.window);
}

std::optional<std::string> invalid_shape(const LlmModel& m) {
    struct Bound {
        const char* name;
        double value, least, most;
    };
    constexpr double kWide = 1e7, kMany = 1e5;
    for (const Bound& bound : {
             Bound{"layers", m.layers, 1, kMany},
             Bound{"hidden size", m.hidden, 1, kWide},
             Bound{"attention heads", m.heads, 1, kMany},
             Bound{"KV heads", m.kv_heads, m.latent() ? 0.0 : 1.0, kMany},
             Bound{"head size", m.head_dim, m.latent() ? 0.0 : 1.0, kMany},
             Bound{"MLP width", m.ffn, 1, kWide},
             Bound{"vocabulary", m.vocab, 1, 1e9},
             Bound{"experts", m.experts, 0, kMany},
             Bound{"experts per token", m.top_k, m.mixture() ? 1.0 : 0.0, m.experts},
             Bound{"shared experts", m.shared_experts, 0, kMany},
             Bound{"first dense layers", m.first_dense_layers, 0, m.layers},
             Bound{"dense MLP width", m.dense_ffn, m.first_dense_layers > 0 ? 1.0 : 0.0, kWide},
             Bound{"window", m.window, 0, 1e9},
             Bound{"q_lora", m.q_lora, 0, kWide},
             Bound{"kv_lora", m.kv_lora, 0, kWide},
             Bound{"nope size", m.nope_dim, m.latent() ? 1.0 : 0.0, kMany},
             Bound{"rope size", m.rope_dim, m.latent() ? 1.0 : 0.0, kMany},
             Bound{"value size", m.v_dim, m.latent() ? 1.0 : 0.0, kMany},
         }) {
        if (!whole(bound.value, bound.least, bound.most)) {
            return std::string(bound.name) + " is missing, no whole number or out of range";
        }
    }
    if (!m.latent() && m.kv_heads > m.heads) return std::string("more KV heads than attention heads");
    if (!(m.window_fraction >= 0 && m.window_fraction <= 1))
        return std::string("window fraction is no fraction");
    return std::nullopt;
}

}  // namespace gpucheck::cost
