// The shape of a language model and what follows from it: how many weights each token touches and how many
// bytes of cache it leaves. A head size guessed from a name has priced models wrong by a factor of two.
#pragma once

#include <optional>
#include <string>

namespace gpucheck::cost {

/// As the model's published config says; counts are whole numbers, kept as double for the arithmetic.
struct LlmModel {
    std::string key;         ///< "llama-3.1-70b"
    std::string identifier;  ///< "meta-llama/Llama-3.1-70B"
    double layers = 0, hidden = 0, heads = 0, kv_heads = 0;
    double head_dim = 0;  ///< never hidden / heads: Qwen3 and gpt-oss differ
    double ffn = 0;       ///< width of the gated MLP, of one expert in a mixture
    double vocab = 0;
    bool tied_embeddings = false;  ///< the output head is the embedding: its weights exist once

    // Mixtures of experts; experts == 0: dense.
    double experts = 0, top_k = 0, shared_experts = 0, first_dense_layers = 0, dense_ffn = 0;

    // Sliding window: this fraction of the layers sees only the last `window` tokens.
    double window = 0, window_fraction = 0;

    // Latent attention (DeepSeek); kv_lora == 0: ordinary heads. q_lora == 0: queries are not compressed.
    double q_lora = 0, kv_lora = 0, nope_dim = 0, rope_dim = 0, v_dim = 0;

    std::string native_weights;  ///< "bf16", "fp8", "mxfp4 experts"
    std::string source, as_of, note;

    bool mixture() const { return experts > 0; }
    bool latent() const { return kv_lora > 0; }
};

/// Weights by how often they are read. Norms and biases (< 0.05 %) are left out.
struct ModelSize {
    double dense = 0;          ///< attention, dense MLPs, shared experts, routers: read for every token
    double expert = 0;         ///< all routed experts
    double expert_active = 0;  ///< routed experts that one token uses
    double head = 0;           ///< output head, kept in 16 bit
    double embedding = 0;      ///< 0 when it is the head
    double total() const { return dense + expert + head + embedding; }
    double active() const { return dense + expert_active + head + embedding; }
};

ModelSize size_of(const LlmModel& model);

/// Values of KV cache that one token leaves in all layers.
double kv_values_per_token(const LlmModel& model);

/// Tokens of context that an average layer looks at when `tokens` are there.
double context_of(const LlmModel& model, double tokens);

/// What is wrong with the shape in one sentence; nullopt: it can be computed with. Bounds every member, so
/// that no product of them overflows.
std::optional<std::string> invalid_shape(const LlmModel& model);

}  // namespace gpucheck::cost
