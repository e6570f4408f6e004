// The five-term model; see estimator.h. Constants were fitted once to published results on A100 and H100
// (docs/cost.md): they multiply measured rates and must not be refitted to a single machine.
#include "checks/cost/estimator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace gpucheck::cost {
namespace {

constexpr double kWeightRead = 0.93;        // of the bandwidth, when weights stream
constexpr double kPrefillGemm = 0.90;       // of the GEMM rate
constexpr double kDecodeGemm = 0.85;        // of the GEMM rate
constexpr double kPrefillAttention = 0.90;  // of the 16-bit GEMM rate
constexpr double kLatentAttention = 0.50;   // of the 16-bit GEMM rate, decoding with a latent cache
constexpr double kExpertGemm = 0.31;        // extra factor on routed experts
constexpr double kLayerS = 50e-6;           // launches and scheduling of one layer
constexpr double kMemoryShare = 0.90, kMemoryShareOneBatch = 0.95;
constexpr double kReserveBytes = 3.5e9;  // runtime and communication buffers of one GPU
constexpr double kChunk = 8192;          // tokens that are prefilled together
constexpr double kManyWaves = 20;        // from here on a partly empty last wave does not matter

// Rates outside are no measurement; inside, no sum or product below overflows.
constexpr double kLeastRate = 1, kMostRate = 1e30;
constexpr double kMostTokens = 1e9;

bool within(double value, double least, double most) {
    return value >= least && value <= most;  // false for NaN
}

// Everything that does not change within one estimate.
struct Setup {
    const LlmModel& model;
    ModelSize size;
    double n, bandwidth, f16, fw, capacity, weight_bytes, kv_token_bytes, copies;
    Fabric fabric;
    unsigned group;
    bool spread;  // attention data-parallel

    double dense_bytes() const { return size.dense * weight_bytes * (spread ? n : 1); }
    double expert_bytes() const { return size.expert * weight_bytes; }
    double all_reduce(double bytes) const { return all_reduce_s(fabric, group, bytes).value_or(0); }
};

double max_concurrency(const Setup& s, double context, double share) {
    const double head = 2 * (s.size.head + s.size.embedding) * (s.spread ? s.n : 1);
    const double room =
        s.n * (share * s.capacity - kReserveBytes) - s.dense_bytes() - s.expert_bytes() - head;
    return room / (s.kv_token_bytes * context_of(s.model, context) * s.copies);
}

double kv_time(const Setup& s, double batch, double tokens) {
    const double read =
        s.kv_token_bytes * batch * context_of(s.model, tokens) * s.copies / (s.n * s.bandwidth);
    if (!s.model.latent()) return read;
    // Each head multiplies with the whole latent vector, and once more for the values.
    const double width = 2 * s.model.kv_lora + s.model.rope_dim;
    const double flops = 2 * s.model.heads * width * tokens * batch * s.model.layers;
    return std::max(read, flops / (s.n * s.f16 * kLatentAttention));
}

double decode_communication(const Setup& s, double batch) {
    if (s.group <= 1) return 0;
    if (!s.spread) return 2 * s.model.layers * s.all_reduce(2 * batch * s.model.hidden);
    const double bytes = batch / s.n * 2 * s.model.hidden * std::min(8.0, s.model.top_k);
    const double latency = all_reduce_latency_s(s.fabric, s.group).value_or(0);
    return 2 * s.model.layers * (2 * latency + 0.5 * s.all_reduce(bytes));
}

StepTerms step(const Setup& s, double batch, double tokens) {
    const ModelSize& size = s.size;
    StepTerms terms;
    const double touched = s.model.mixture() ? 1 - std::pow(1 - s.model.top_k / s.model.experts, batch) : 0;
    terms.weights =
        (s.dense_bytes() + 2 * size.head + s.expert_bytes() * touched) / (s.n * s.bandwidth * kWeightRead);
    terms.gemm = 2 * batch / (s.n * kDecodeGemm) *
                 (size.dense / s.fw + size.head / s.f16 + size.expert_active / (s.fw * kExpertGemm));
    terms.kv = kv_time(s, batch, tokens);
    terms.all_reduce = decode_communication(s, batch);
    terms.layers = s.model.layers * kLayerS;
    return terms;
}

double mean_step(const Setup& s, const Workload& load, double batch, int points) {
    double sum = 0;
    for (int i = 0; i < points; ++i) {
        sum += step(s, batch, load.isl + load.osl * (i + 0.5) / points).total();
    }
    return sum / points;
}

// Query-key pairs of one request's prompt, averaged over the layers.
double prompt_pairs(const LlmModel& m, double isl) {
    const double full = isl * isl / 2;
    if (m.window <= 0) return full;
    return (1 - m.window_fraction) * full + m.window_fraction * isl * std::min(isl, m.window);
}

double prefill(const Setup& s, double isl, double batch) {
    const ModelSize& size = s.size;
    const LlmModel& m = s.model;
    const double chunk = std::max(std::min(batch * isl, kChunk), std::min(isl, kChunk));
    const double chunks = isl / chunk;
    const double compute =
        2 * isl / (s.n * s.fw * kPrefillGemm) * (size.dense + size.expert_active / kExpertGemm);
    const double read = (s.dense_bytes() + s.expert_bytes()) / (s.n * s.bandwidth * kWeightRead) * chunks;
    const double head_dim = m.latent() ? (m.nope_dim + m.rope_dim + m.v_dim) / 2 : m.head_dim;
    const double attention =
        4 * m.heads * head_dim * prompt_pairs(m, isl) * m.layers / (s.n * s.f16 * kPrefillAttention);
    double communication = s.group > 1 ? 2 * m.layers * s.all_reduce(2 * chunk * m.hidden) * chunks : 0;
    if (s.spread) communication *= 0.7;
    return std::max(compute, read) + attention + communication + m.layers * kLayerS * chunks;
}

std::optional<Refusal> bad_load(const Workload& load) {
    const auto tokens = [](double value) { return within(value, 1, kMostTokens); };
    if (!tokens(load.isl) || !tokens(load.osl) || !tokens(load.concurrency) ||
        (load.shape == LoadShape::saturated && !tokens(load.requests))) {
        return Refusal{RefusalCode::bad_workload, "lengths and concurrency must lie between 1 and 1e9"};
    }
    if (load.kv != Precision::fp16 && load.kv != Precision::fp8) {
        return Refusal{RefusalCode::bad_workload, "a KV cache is fp16 or fp8"};
    }
    return std::nullopt;
}

// The GEMM rate for these weights: native, or 16-bit when they are only stored in that format.
std::variant<double, Refusal> weight_rate(const MeasuredMachine& machine, const Workload& load, double f16) {
    const bool eight = load.weights == Precision::fp8;
    if (load.weights == Precision::fp16) return f16;
    const std::string name(name_of(load.weights));
    const std::optional<bool> native = eight ? machine.has_fp8 : machine.has_fp4;
    if (!native)
        return Refusal{RefusalCode::no_measurement,
                       "whether this board computes in " + name + " is not known"};
    if (!*native) {
        if (load.weight_only) return f16;
        return Refusal{RefusalCode::precision_unsupported, "the matrix units do not compute in " + name +
                                                               "; --weight-only stores the weights in it"};
    }
    const std::optional<double> rate = eight ? machine.fp8_flop_s : machine.fp4_flop_s;
    if (!rate || !within(*rate, kLeastRate, kMostRate)) {
        return Refusal{RefusalCode::no_measurement, "the " + name + " matrix rate was not measured"};
    }
    return *rate;
}

std::variant<Setup, Refusal> set_up(const LlmModel& model, const MeasuredMachine& machine,
                                    const Workload& load) {
    if (auto why = invalid_shape(model)) return Refusal{RefusalCode::model_unknown, model.key + ": " + *why};
    if (auto refusal = bad_load(load)) return *refusal;
    const unsigned n = load.group;
    if (n != 1 && n != 2 && n != 4 && n != 8) {
        return Refusal{RefusalCode::fabric_unknown, "groups of 1, 2, 4 or 8 GPUs are known"};
    }
    if (n > machine.gpus) {
        return Refusal{
            RefusalCode::gpu_count_mismatch,
            "a group of " + std::to_string(n) + " GPUs on an instance of " + std::to_string(machine.gpus)};
    }
    if (n > 1 && machine.fabric == Fabric::unknown) {
        return Refusal{RefusalCode::fabric_unknown, "how the GPUs are connected is not known"};
    }
    for (const auto& [value, name] : {std::pair{machine.bandwidth_bytes_s, "memory bandwidth"},
                                      std::pair{machine.fp16_flop_s, "16-bit matrix rate"},
                                      std::pair{machine.capacity_bytes, "memory capacity"}}) {
        if (!value || !within(*value, kLeastRate, kMostRate)) {
            return Refusal{RefusalCode::no_measurement, std::string("the ") + name + " was not measured"};
        }
    }
    const auto rate = weight_rate(machine, load, *machine.fp16_flop_s);
    if (const auto* refusal = std::get_if<Refusal>(&rate)) return *refusal;
    if (load.kv == Precision::fp8 && machine.has_fp8 != true && !load.weight_only) {
        return Refusal{RefusalCode::precision_unsupported, "an fp8 KV cache needs fp8 hardware"};
    }
    const bool spread = load.attention_data_parallel && n > 1;
    if (spread && !(model.latent() && model.mixture())) {
        return Refusal{RefusalCode::bad_workload, "attention is spread only for DeepSeek's shape"};
    }
    const double copies = spread ? 1 : model.latent() ? n : std::max(1.0, n / model.kv_heads);
    return Setup{model,
                 size_of(model),
                 static_cast<double>(n),
                 *machine.bandwidth_bytes_s,
                 *machine.fp16_flop_s,
                 std::get<double>(rate),
                 *machine.capacity_bytes,
                 bytes_of(load.weights),
                 kv_values_per_token(model) * bytes_of(load.kv),
                 copies,
                 machine.fabric,
                 n,
                 spread};
}

Estimate one_batch(const Setup& s, const Workload& load, double b_max) {
    Estimate result;
    const double groups = std::max(1.0, std::ceil(load.concurrency / b_max));
    const double batch = load.concurrency / groups;
    const double first = prefill(s, load.isl, batch);
    const double step_s = mean_step(s, load, batch, 8);
    result = {b_max, batch, first, step_s, 0, 0};
    result.tokens_per_s = load.concurrency * load.osl / (groups * (batch * first + load.osl * step_s));
    result.tokens_per_s_per_user = result.tokens_per_s / load.concurrency;
    return result;
}

double batch_of(const Workload& load, double b_max) {
    if (load.shape == LoadShape::steady) return std::min({load.concurrency, b_max, kEngineBatch});
    const double most = std::min(b_max, kEngineBatch);
    const double waves = std::ceil(load.requests / most);
    return waves < kManyWaves ? load.requests / waves : most;
}

}  // namespace

std::string_view name_of(RefusalCode code) {
    constexpr std::array<std::string_view, 11> kNames{
        "does_not_fit",  "precision_unsupported", "fabric_unknown", "no_measurement",
        "price_unknown", "model_unknown",         "unscorable",     "gpu_count_mismatch",
        "partitioned",   "bad_workload",          "not_reachable"};
    return kNames[static_cast<std::size_t>(code)];
}

Outcome estimate(const LlmModel& model, const MeasuredMachine& machine, const Workload& load) {
    const auto prepared = set_up(model, machine, load);
    if (const auto* refusal = std::get_if<Refusal>(&prepared)) return *refusal;
    const Setup& s = std::get<Setup>(prepared);
    const bool batch_only = load.shape == LoadShape::one_batch;
    const double b_max = max_concurrency(s, load.isl + (batch_only ? load.osl : load.osl / 2),
                                         batch_only ? kMemoryShareOneBatch : kMemoryShare);
    if (!(b_max >= 1)) {
        return Refusal{RefusalCode::does_not_fit,
                       "weights and the cache of one request need more memory than " +
                           std::to_string(load.group) + (load.group == 1 ? " GPU has" : " GPUs have")};
    }
    if (batch_only) return one_batch(s, load, b_max);
    Estimate result;
    result.max_concurrency = b_max;
    result.batch = batch_of(load, b_max);
    result.prefill_s = prefill(s, load.isl, result.batch);
    result.step_s = mean_step(s, load, result.batch, 4);
    result.tokens_per_s = load.osl / (result.prefill_s + load.osl * result.step_s / result.batch);
    result.tokens_per_s_per_user = 1 / (result.step_s + result.batch * result.prefill_s / load.osl);
    return result;
}

std::variant<StepTerms, Refusal> step_terms(const LlmModel& model, const MeasuredMachine& machine,
                                            const Workload& load, double batch, double tokens) {
    const auto prepared = set_up(model, machine, load);
    if (const auto* refusal = std::get_if<Refusal>(&prepared)) return *refusal;
    if (!within(batch, 1, kMostTokens) || !within(tokens, 1, kMostTokens)) {
        return Refusal{RefusalCode::bad_workload, "batch and context must lie between 1 and 1e9"};
    }
    return step(std::get<Setup>(prepared), batch, tokens);
}

}  // namespace gpucheck::cost
