// Finds matrix units that multiply wrongly or slowly: every data type of the architecture, on every compute
// unit, compared bit for bit with integer arithmetic.
#include <algorithm>
#include <array>
#include <string>

#include "kernels/experiments/matrix_paths.h"
#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;
using kernels::MatrixParameters;
using kernels::MatrixShape;
using kernels::MatrixType;

constexpr std::array<const char*, kernels::kMatrixTypes> kNames{"f64",  "tf32", "f16",  "bf16", "e4m3",
                                                                "e5m2", "i8",   "e2m3", "e3m2", "e2m1"};
constexpr unsigned kCalibrating = 64;  // iterations of the first launch, whose time scales the others
constexpr unsigned kCalibrations = 3;
constexpr unsigned kMostIterations = 50000000;

/// One data type on one GPU.
class MatrixRun {
  public:
    MatrixRun(Bench& bench, MatrixType type, const MatrixPath& path)
        : bench_(bench),
          type_(type),
          shape_(matrix_shape(path.target, type)),
          path_(path),
          name_(kNames[static_cast<std::size_t>(type)]) {}

    ExperimentResult run() {
        const Settings& settings = bench_.settings();
        result_ = begin_result(bench_, Kind::matrix, variant_of(path_, type_),
                               "rounds=" + std::to_string(settings.matrix_rounds) +
                                   " reps=" + std::to_string(settings.matrix_reps) +
                                   " blocks=" + std::to_string(bench_.blocks()));
        if (const Done error = bench_.find(path_.image, path_.prefix + name_, kernel_))
            return failed(result_, *error);
        std::vector<double> tflops;
        Done error = calibrate();
        for (unsigned rep = 1; rep <= settings.matrix_reps && !error && !bench_.late(); ++rep) {
            error = launch(rep);
            // A launch that left something out was fast for the wrong reason.
            if (!error && result_.values_expected.is(*result_.values_checked)) tflops.push_back(rate());
        }
        if (error) {
            if (!is_proven(path_.target)) disown(path_, result_);
            return failed(result_, *error);
        }
        if (launches_ == 0) return out_of_time(result_);
        units_.state(bench_, result_);
        if (!tflops.empty() && !is_done_by_fp16(path_, bench_.properties().architecture, type_)) {
            const bool integers = type_ == MatrixType::i8;
            result_.quantities.push_back(quantity(name_, integers ? "TOP/s" : "TFLOP/s", std::move(tflops)));
        }
        result_.parameters = Fact<std::string>(
            *result_.parameters + " iterations=" + std::to_string(iterations_) +
                " instructions=" + instructions_of(path_, bench_.properties().architecture, type_),
            "settings");
        result_.ran = Fact<bool>(true, path_.prefix + name_);
        if (!is_proven(path_.target)) disown(path_, result_);
        return std::move(result_);
    }

  private:
    std::uint64_t waves() const {
        return std::uint64_t{bench_.blocks()} * (kernels::kMatrixThreads / shape_.wave);
    }
    std::uint64_t values() const {
        return waves() * shape_.wave * bench_.settings().matrix_rounds * shape_.d_elements * shape_.a_parts *
               shape_.b_parts;
    }
    // Operations of one launch in 10^12 a second.
    double rate() const {
        const double instructions = static_cast<double>(iterations_) * 2 * kernels::kSteps + kernels::kSteps;
        const double each = 2.0 * shape_.m * shape_.n * shape_.k * shape_.a_parts * shape_.b_parts;
        const double all =
            instructions * each * static_cast<double>(waves()) * bench_.settings().matrix_rounds;
        return ms_ > 0 ? all / (ms_ * 1e9) : 0;
    }
    /// Launches that are not timed, until one takes about as long as it should: of a short one, making
    /// operands and comparing results is the larger part.
    Done calibrate() {
        const Settings& settings = bench_.settings();
        iterations_ = settings.matrix_iterations != 0 ? settings.matrix_iterations : kCalibrating;
        for (unsigned i = 0; i < kCalibrations && !bench_.late(); ++i) {
            if (Done error = launch(0)) return error;
            if (settings.matrix_iterations != 0 || ms_ <= 0 || ms_ > 0.7 * settings.matrix_ms) break;
            const double wanted = iterations_ * settings.matrix_ms / ms_;
            iterations_ = static_cast<unsigned>(
                std::min<double>(std::max<double>(wanted, kCalibrating), kMostIterations));
        }
        return std::nullopt;
    }

    kernels::MatrixInjection injection(std::uint64_t seed) const {
        const Injection& asked = bench_.settings().inject;
        kernels::MatrixInjection inject{};
        const bool lane = asked.kind == Injection::Kind::lane;
        if (!lane && asked.kind != Injection::Kind::operand) return inject;
        const std::uint64_t where = kernels::mix64(seed ^ static_cast<std::uint64_t>(type_));
        inject.kind = lane ? kernels::MatrixFault::accumulator : kernels::MatrixFault::operand;
        inject.block = static_cast<kernels::u32>(where % bench_.blocks());
        inject.wave = static_cast<kernels::u32>((where >> 20) % (kernels::kMatrixThreads / shape_.wave));
        inject.lane = static_cast<kernels::u32>(asked.place.value_or(where >> 24) % shape_.wave);
        inject.round = static_cast<kernels::u32>((where >> 32) % bench_.settings().matrix_rounds);
        inject.chain = static_cast<kernels::u32>((where >> 40) % (shape_.a_parts * shape_.b_parts));
        inject.element = lane ? static_cast<kernels::u32>((where >> 48) % shape_.d_elements) : 0;
        // Of an operand bits that every type looks at: TF32 drops the lowest 13 of a register.
        inject.flip = lane ? std::uint64_t{1} << ((where >> 56) % 23) : 0x00FF0000U;
        return inject;
    }

    Done once(std::uint64_t seed, bool skip, std::uint64_t& wrong) {
        MatrixParameters parameters{};
        parameters.seed = seed;
        parameters.rounds = bench_.settings().matrix_rounds;
        parameters.iterations = iterations_;
        parameters.inject = injection(seed);
        gpu::DevicePointer at = 0;
        if (Done error = bench_.put(parameters, at)) return error;
        const gpu::Shape shape{bench_.blocks(), kernels::kMatrixThreads, 0};
        return bench_.check(
            [&]() -> Done {
                return bench_.timed(
                    [&]() -> Done {
                        if (skip) return std::nullopt;
                        return bench_.launch(kernel_, shape, at, bench_.result());
                    },
                    ms_);
            },
            result_, wrong, units_);
    }

    Done launch(unsigned rep) {
        const bool skip = rep == 1 && bench_.settings().inject.kind == Injection::Kind::skip;
        const std::uint64_t seed = bench_.settings().seed + rep;
        std::uint64_t wrong = 0;
        expect(values());
        if (Done error = once(seed, skip, wrong)) return error;
        ++launches_;
        if (wrong == 0 || result_.repeat.known()) return std::nullopt;
        ExperimentResult before = result_;  // what the repetition finds is no further mismatch
        std::uint64_t again = 0;
        if (Done error = once(seed, false, again)) return error;
        result_ = std::move(before);
        state_repeat(again != 0, result_);
        return std::nullopt;
    }
    void expect(std::uint64_t more) {
        const std::uint64_t so_far = result_.values_expected.known() ? *result_.values_expected : 0;
        result_.values_expected = Fact<std::uint64_t>(so_far + more, "lanes and registers of all launches");
    }

    Bench& bench_;
    MatrixType type_;
    MatrixShape shape_;
    const MatrixPath& path_;
    std::string name_;
    gpu::Kernel kernel_;
    ExperimentResult result_;
    UnitCoverage units_;
    unsigned iterations_ = kCalibrating, launches_ = 0;
    double ms_ = 0;
};

}  // namespace

ExperimentResult run_matrix_type(Bench& bench, kernels::MatrixType type, const MatrixPath& path) {
    return MatrixRun(bench, type, path).run();
}

const char* name_of_type(kernels::MatrixType type) {
    return kNames[static_cast<std::size_t>(type)];
}

}  // namespace gpucheck::experiments
