// Tokens per second of a model on measured GPUs: five terms per decoding step, each named after what it waits
// for, so that a slow part shows up as dearer tokens and not as a lower score that nobody acts on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "checks/cost/llm.h"
#include "checks/cost/machine.h"

namespace gpucheck::cost {

/// How requests come.
enum class LoadShape : std::uint8_t {
    steady,     ///< `concurrency` requests always in flight
    saturated,  ///< `requests` at once, as many in flight as fit: the last wave may be partly empty
    one_batch,  ///< `concurrency` requests start together and none follows (old benchmarks)
};

struct Workload {
    Precision weights = Precision::fp16, kv = Precision::fp16;
    double isl = 1000, osl = 1000;  ///< input and output tokens of a request
    double concurrency = 1;         ///< requests in flight in one group
    unsigned group = 1;             ///< GPUs that hold one copy of the model: 1, 2, 4 or 8
    /// A format that the matrix units lack may still store the weights; they compute in 16 bit.
    bool weight_only = false;
    /// Every GPU holds all attention weights and serves its own requests; experts are spread (DeepSeek).
    bool attention_data_parallel = false;
    LoadShape shape = LoadShape::steady;
    double requests = 0;  ///< saturated only
};

/// Why there is no estimate. Names are part of the JSON.
enum class RefusalCode : std::uint8_t {
    does_not_fit,
    precision_unsupported,
    fabric_unknown,
    no_measurement,
    price_unknown,
    model_unknown,
    unscorable,
    gpu_count_mismatch,
    partitioned,
    bad_workload,
    not_reachable,
};
std::string_view name_of(RefusalCode code);

struct Refusal {
    RefusalCode code = RefusalCode::no_measurement;
    std::string why;  ///< one sentence
};

/// Seconds of one decoding step, by what it waits for.
struct StepTerms {
    double weights = 0, gemm = 0, kv = 0, all_reduce = 0, layers = 0;
    double total() const { return weights + gemm + kv + all_reduce + layers; }
};

/// All for one group of GPUs. Tokens are output tokens.
struct Estimate {
    double max_concurrency = 0;  ///< requests whose cache fits, not rounded
    double batch = 0;            ///< requests that run together
    double prefill_s = 0;        ///< charged to one request; the time to the first token of an idle server
    double step_s = 0;           ///< mean decoding step
    double tokens_per_s = 0;
    double tokens_per_s_per_user = 0;
};

using Outcome = std::variant<Estimate, Refusal>;
Outcome estimate(const LlmModel& model, const MeasuredMachine& machine, const Workload& workload);

/// The terms of one step of `batch` requests with `tokens` of context each; zero terms when estimate() would
/// refuse for other reasons than memory.
std::variant<StepTerms, Refusal> step_terms(const LlmModel& model, const MeasuredMachine& machine,
                                            const Workload& workload, double batch, double tokens);

/// The most that one engine runs together.
inline constexpr double kEngineBatch = 2048;

}  // namespace gpucheck::cost
