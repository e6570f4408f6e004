// More bandwidth, FLOP/s or memory never makes a token dearer, and nothing that can be asked gives a number
// that is none.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/cost/reference_csv.h"

namespace gpucheck::cost {
namespace {

// Deterministic on every platform, unlike the standard distributions.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    double between(double low, double high) {  // logarithmic
        const double share = static_cast<double>(next() >> 11) / 9007199254740992.0;
        return low * std::pow(high / low, share);
    }
    double whole(double low, double high) { return std::floor(between(low, high)); }

  private:
    std::uint64_t state_;
};

LlmModel random_model(Dice& dice) {
    LlmModel model;
    model.key = "random";
    model.layers = dice.whole(2, 130);
    model.hidden = dice.whole(256, 20000);
    model.heads = dice.whole(4, 130);
    model.kv_heads = std::min(model.heads, dice.whole(1, 130));
    model.head_dim = dice.whole(32, 300);
    model.ffn = dice.whole(256, 60000);
    model.vocab = dice.whole(1000, 300000);
    if (dice.below(2) == 0) {
        model.experts = dice.whole(2, 300);
        model.top_k = std::min(model.experts, dice.whole(1, 16));
        model.shared_experts = static_cast<double>(dice.below(3));
        model.first_dense_layers = static_cast<double>(dice.below(2));
        model.dense_ffn = model.ffn * 4;
    }
    if (dice.below(4) == 0) {
        model.window = dice.whole(16, 8192);
        model.window_fraction = 0.5;
    }
    if (dice.below(4) == 0) {
        model.kv_heads = model.head_dim = 0;
        model.q_lora = dice.below(2) == 0 ? 0 : dice.whole(64, 4096);
        model.kv_lora = dice.whole(64, 2048);
        model.nope_dim = dice.whole(16, 256);
        model.rope_dim = dice.whole(16, 128);
        model.v_dim = dice.whole(16, 256);
    }
    return model;
}

MeasuredMachine random_machine(Dice& dice) {
    MeasuredMachine machine;
    machine.gpus = 8;
    machine.bandwidth_bytes_s = dice.between(1e11, 2e13);
    machine.fp16_flop_s = dice.between(1e13, 1e16);
    machine.fp8_flop_s = *machine.fp16_flop_s * 2;
    machine.fp4_flop_s = *machine.fp16_flop_s * 4;
    machine.has_fp8 = machine.has_fp4 = true;
    machine.capacity_bytes = dice.between(2e10, 1e12);
    machine.fabric = static_cast<Fabric>(1 + dice.below(5));
    return machine;
}

Workload random_load(Dice& dice) {
    Workload load;
    load.weights = static_cast<Precision>(dice.below(4));
    load.kv = static_cast<Precision>(dice.below(2));
    load.isl = dice.whole(1, 1e7);
    load.osl = dice.whole(1, 20000);
    load.concurrency = dice.whole(1, 5000);
    load.group = 1U << dice.below(4);
    load.shape = static_cast<LoadShape>(dice.below(3));
    load.requests = dice.whole(1, 30000);
    return load;
}

bool sound(double value) {
    return std::isfinite(value) && value > 0;
}

// Empty, or what is wrong.
std::string wrong_with(const Estimate& e, const Workload& load) {
    if (!sound(e.max_concurrency) || !sound(e.batch) || !sound(e.prefill_s) || !sound(e.step_s) ||
        !sound(e.tokens_per_s) || !sound(e.tokens_per_s_per_user)) {
        return "no positive number";
    }
    if (e.batch > load.concurrency * (1 + 1e-12) && load.shape != LoadShape::saturated)
        return "more than was asked";
    return {};
}

TEST(CostProperties, MoreNeverCostsMore) {
    Dice dice(20261130);
    std::size_t estimated = 0;
    constexpr int kCases = 100000;
    for (int i = 0; i < kCases; ++i) {
        const LlmModel model = random_model(dice);
        const MeasuredMachine machine = random_machine(dice);
        const Workload load = random_load(dice);
        MeasuredMachine better = machine;
        const double more = 1 + dice.between(1e-3, 3);
        std::optional<double> MeasuredMachine::*const parts[] = {
            &MeasuredMachine::bandwidth_bytes_s, &MeasuredMachine::fp16_flop_s, &MeasuredMachine::fp8_flop_s,
            &MeasuredMachine::fp4_flop_s, &MeasuredMachine::capacity_bytes};
        const std::size_t part = dice.below(5);
        *(better.*parts[part]) *= more;
        const Outcome before = estimate(model, machine, load), after = estimate(model, better, load);
        const auto* less = std::get_if<Estimate>(&before);
        const auto* most = std::get_if<Estimate>(&after);
        if (less == nullptr) {
            ASSERT_EQ(std::get<Refusal>(before).code, RefusalCode::does_not_fit) << i;
            continue;
        }
        ++estimated;
        ASSERT_EQ(wrong_with(*less, load), "") << i;
        ASSERT_NE(most, nullptr) << i;
        ASSERT_GE(most->tokens_per_s, less->tokens_per_s * (1 - 1e-9)) << i << " part " << part;
        const auto dear = usd_per_million(*less, load, 2.5), cheap = usd_per_million(*most, load, 2.5);
        ASSERT_LE(*cheap.blended, *dear.blended * (1 + 1e-9)) << i;
        if (load.shape == LoadShape::steady) {
            ASSERT_LE(*cheap.input, *dear.input * (1 + 1e-9)) << i;
            ASSERT_LE(*cheap.output, *dear.output * (1 + 1e-9)) << i;
        }
    }
    EXPECT_GT(estimated, 20000U);  // or the test shows nothing
}

TEST(CostProperties, AUserNeverGainsFromOthers) {
    Dice dice(7);
    for (int i = 0; i < 3000; ++i) {
        const LlmModel model = random_model(dice);
        const MeasuredMachine machine = random_machine(dice);
        Workload load = random_load(dice);
        load.shape = LoadShape::steady;
        load.concurrency = dice.whole(1, 2000);
        const Outcome few = estimate(model, machine, load);
        load.concurrency += dice.whole(1, 100);
        const Outcome many = estimate(model, machine, load);
        if (!std::holds_alternative<Estimate>(few)) continue;
        ASSERT_LE(std::get<Estimate>(many).tokens_per_s_per_user,
                  std::get<Estimate>(few).tokens_per_s_per_user * (1 + 1e-9))
            << i;
    }
}

TEST(CostProperties, AbsurdInputsGiveNumbersOrReasons) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::vector<double> absurd{0,       -1,   -1e30, 1e-300, 1,    2048,      1e7,       1e9,
                                     1e9 + 1, 1e30, 1e31,  1e308,  kNan, kInfinity, -kInfinity};
    std::size_t numbers = 0, reasons = 0;
    const auto judge = [&](const LlmModel& model, const MeasuredMachine& machine, const Workload& load) {
        const Outcome outcome = estimate(model, machine, load);
        if (const auto* e = std::get_if<Estimate>(&outcome)) {
            ++numbers;
            ASSERT_EQ(wrong_with(*e, load), "");
            const UsdPerMillion usd = usd_per_million(*e, load, 2.0);
            ASSERT_TRUE(sound(*usd.input) && sound(*usd.output) && sound(*usd.blended));
        } else {
            ++reasons;
            ASSERT_FALSE(std::get<Refusal>(outcome).why.empty());
        }
    };
    const MeasuredMachine healthy = reference_machine("B200-SXM");
    for (const LlmModel& model : tables().models) {
        for (const double value : absurd) {
            for (std::optional<double> MeasuredMachine::*part :
                 {&MeasuredMachine::bandwidth_bytes_s, &MeasuredMachine::fp16_flop_s,
                  &MeasuredMachine::fp8_flop_s, &MeasuredMachine::capacity_bytes}) {
                MeasuredMachine machine = healthy;
                machine.*part = value;
                Workload load;
                load.weights = load.kv = Precision::fp8;
                load.group = 8;
                judge(model, machine, load);
                load.concurrency = 1e9;
                load.isl = 1e7;
                judge(model, machine, load);
            }
            for (double Workload::*member : {&Workload::isl, &Workload::osl, &Workload::concurrency}) {
                for (const LoadShape shape :
                     {LoadShape::steady, LoadShape::one_batch, LoadShape::saturated}) {
                    Workload load;
                    load.weights = load.kv = Precision::fp8;
                    load.group = 8;
                    load.requests = 100;
                    load.shape = shape;
                    load.*member = value;
                    judge(model, healthy, load);
                }
            }
            LlmModel spoilt = model;
            spoilt.hidden = value;
            judge(spoilt, healthy, {});
            spoilt = model;
            spoilt.experts = value;
            judge(spoilt, healthy, {});
        }
    }
    EXPECT_GT(numbers, 100U);
    EXPECT_GT(reasons, 100U);
}

TEST(CostProperties, EveryRefusalHasItsReason) {
    const LlmModel model = reference_model("llama3.1-70b");
    const auto code = [&](const char* board, const Workload& load) {
        const Outcome outcome = estimate(model, reference_machine(board), load);
        const auto* refusal = std::get_if<Refusal>(&outcome);
        return refusal != nullptr ? std::string(name_of(refusal->code)) : std::string("estimated");
    };
    Workload load;
    load.weights = Precision::fp16;
    EXPECT_EQ(code("H100-SXM", load), "does_not_fit");
    load.group = 4;
    EXPECT_EQ(code("H100-SXM", load), "estimated");
    load.group = 3;
    EXPECT_EQ(code("H100-SXM", load), "fabric_unknown");
    load.group = 4;
    load.weights = Precision::fp8;
    EXPECT_EQ(code("A100-SXM-80", load), "precision_unsupported");
    load.weight_only = true;
    EXPECT_EQ(code("A100-SXM-80", load), "estimated");
    load.weight_only = false;
    load.weights = Precision::fp4;
    EXPECT_EQ(code("H100-SXM", load), "precision_unsupported");
    EXPECT_EQ(code("MI300X", load), "precision_unsupported");
    EXPECT_EQ(code("B200-SXM", load), "estimated");
    load.kv = Precision::fp4;
    EXPECT_EQ(code("B200-SXM", load), "bad_workload");
    MeasuredMachine machine = reference_machine("B200-SXM");
    load.kv = Precision::fp8;
    machine.fabric = Fabric::unknown;
    EXPECT_EQ(std::get<Refusal>(estimate(model, machine, load)).code, RefusalCode::fabric_unknown);
    load.group = 1;
    EXPECT_TRUE(std::holds_alternative<Estimate>(estimate(model, machine, load)));  // one GPU needs no fabric
    machine.fp4_flop_s.reset();
    EXPECT_EQ(std::get<Refusal>(estimate(model, machine, load)).code, RefusalCode::no_measurement);
    load.group = 8;
    machine.gpus = 4;
    EXPECT_EQ(std::get<Refusal>(estimate(model, machine, load)).code, RefusalCode::gpu_count_mismatch);
}

}  // namespace
}  // namespace gpucheck::cost
