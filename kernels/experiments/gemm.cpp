// Finds a GPU that multiplies wrongly or slowly when the operands come from memory, as in training: tiles
// through shared memory, caches and all compute units at once, every element of the product compared bit for
// bit.
#include <algorithm>
#include <array>
#include <string>

#include "kernels/experiments/experiments.h"
#include "kernels/experiments/matrix_paths.h"
#include "kernels/gemm_data.h"
#include "kernels/reference.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;
using kernels::MatrixType;

constexpr std::array kTypes{MatrixType::bf16, MatrixType::f16, MatrixType::e4m3};
constexpr std::uint32_t kPoison = 0xA5A5A5A5U;

struct Kernels {
    gpu::Kernel fill, multiply, check;
};

/// Both factors, the product, and who made each of its tiles.
struct Matrices {
    explicit Matrices(gpu::Gpu& gpu) : a(gpu), b(gpu), c(gpu), owners(gpu) {}
    DeviceMemory a, b, c, owners;
};

class GemmRun {
  public:
    GemmRun(Bench& bench, MatrixType type, kernels::Target target)
        : bench_(bench),
          type_(type),
          name_(name_of_type(type)),
          threads_(gemm_threads(target, type)),
          path_{"mma", "gemm", "gemm_", target},
          size_(bench.settings().gemm_size),
          depth_(bench.settings().gemm_depth != 0 ? bench.settings().gemm_depth : size_),
          matrices_(bench.gpu()) {}

    ExperimentResult run() {
        const Settings& settings = bench_.settings();
        result_ = begin_result(bench_, Kind::gemm, name_,
                               "size=" + std::to_string(size_) + " depth=" + std::to_string(depth_) +
                                   " reps=" + std::to_string(settings.gemm_reps) +
                                   " library=gpucheck instructions=" +
                                   instructions_of(path_, bench_.properties().architecture, type_));
        const auto data = kernels::gemm_data(type_, settings.seed, depth_);
        if (!data) {
            result_.ran = Missing{"settings", "so deep a product is not exact: gemm.depth"};
            return std::move(result_);
        }
        data_ = *data;
        Done error = find_kernels();
        if (!error) error = take_memory();
        if (!error) error = fill();
        if (error) return failed(result_, *error);
        return measure();
    }

  private:
    std::uint64_t values() const { return std::uint64_t{size_} * size_; }
    std::uint64_t tiles() const { return values() / kernels::kGemmTile / kernels::kGemmTile; }
    std::uint64_t factor_bytes() const {
        return std::uint64_t{size_} * depth_ * kernels::element_bits_of(type_) / 8;
    }

    ExperimentResult measure() {
        const Settings& settings = bench_.settings();
        std::vector<double> tflops;
        for (unsigned rep = 0; rep <= settings.gemm_reps && !bench_.late(); ++rep) {
            std::uint64_t wrong = 0;
            const bool skip =
                rep == std::min(1U, settings.gemm_reps) && settings.inject.kind == Injection::Kind::skip;
            if (const Done error = once(skip, wrong)) return failed(result_, *error);
            ++launches_;
            const double operations = 2.0 * static_cast<double>(values()) * depth_;
            if (rep > 0 && ms_ > 0 && wrong == 0) tflops.push_back(operations / (ms_ * 1e9));
            if (wrong == 0 || result_.repeat.known()) continue;
            ExperimentResult before = result_;  // what the repetition finds is no further mismatch
            std::uint64_t again = 0;
            if (const Done error = once(false, again)) return failed(result_, *error);
            result_ = std::move(before);
            state_repeat(again != 0, result_);
        }
        if (launches_ == 0) return out_of_time(result_);
        result_.values_expected = Fact<std::uint64_t>(values() * launches_, "elements of the product");
        units_.state(bench_, result_);
        if (!tflops.empty() && !is_done_by_fp16(path_, bench_.properties().architecture, type_))
            result_.quantities.push_back(quantity("rate", "TFLOP/s", std::move(tflops)));
        result_.ran = Fact<bool>(true, "gemm_" + name_);
        return std::move(result_);
    }

    Done find_kernels() {
        if (Done error = bench_.find("gemm", "gemm_fill_" + name_, kernels_.fill)) return error;
        if (Done error = bench_.find("gemm", "gemm_" + name_, kernels_.multiply)) return error;
        return bench_.find("gemm", "gemm_check", kernels_.check);
    }
    Done take_memory() {
        if (Done error = matrices_.a.allocate(factor_bytes())) return error;
        if (Done error = matrices_.b.allocate(factor_bytes())) return error;
        if (Done error = matrices_.c.allocate(values() * 4)) return error;
        return matrices_.owners.allocate(tiles() * 4);
    }
    Done fill() {
        for (const kernels::u32 side : {0U, 1U}) {
            const gpu::DevicePointer to = side == 0 ? matrices_.a.at() : matrices_.b.at();
            if (Done error =
                    bench_.launch(kernels_.fill, bench_.memory_shape(), to, size_, depth_, data_.key, side))
                return error;
        }
        if (bench_.settings().inject.kind != Injection::Kind::operand) return std::nullopt;
        // Next to the highest bit of an element: of every value another one.
        return flip(matrices_.a.at(), factor_bytes(), kernels::element_bits_of(type_) - 2);
    }
    // Flips a bit of a word that the seed or --inject chooses, with the copies that anybody could make.
    Done flip(gpu::DevicePointer memory, std::uint64_t bytes, unsigned bit) {
        const Injection& asked = bench_.settings().inject;
        const std::uint64_t hash = kernels::mix64(bench_.settings().seed ^ static_cast<std::uint64_t>(type_));
        const gpu::DevicePointer at = memory + asked.place.value_or(hash) % bytes / 8 * 8;
        PinnedMemory word(bench_.gpu());
        if (Done error = word.allocate(8)) return error;
        if (Done error = bench_.gpu().copy(gpu::Direction::to_host, word.at(), at, 8, bench_.stream()))
            return error;
        if (Done error = bench_.wait()) return error;
        *word.as<std::uint64_t>() ^= std::uint64_t{1} << bit;
        if (Done error = bench_.gpu().copy(gpu::Direction::to_device, at, word.at(), 8, bench_.stream()))
            return error;
        return bench_.wait();
    }

    Done multiply_and_check(bool skip) {
        const Injection::Kind asked = bench_.settings().inject.kind;
        const gpu::Shape shape{static_cast<unsigned>(tiles()), threads_, 0};
        const auto depth_bytes = static_cast<kernels::u32>(factor_bytes() / size_);
        Done error = bench_.timed(
            [&]() -> Done {
                if (skip) return std::nullopt;
                return bench_.launch(kernels_.multiply, shape, matrices_.a.at(), matrices_.b.at(),
                                     matrices_.c.at(), matrices_.owners.at(), size_, depth_bytes,
                                     bench_.result());
            },
            ms_);
        if (!error && (asked == Injection::Kind::bit || asked == Injection::Kind::lane))
            error = flip(matrices_.c.at(), values() * 4, 30);
        if (error) return error;
        return bench_.launch(kernels_.check, bench_.memory_shape(), matrices_.c.at(), matrices_.owners.at(),
                             size_, static_cast<kernels::u32>(type_), data_.key, data_.sums, bench_.result());
    }
    Done once(bool skip, std::uint64_t& wrong) {
        gpu::Gpu& gpu = bench_.gpu();
        if (Done error = gpu.fill_words(matrices_.c.at(), kPoison, values(), bench_.stream())) return error;
        if (Done error = gpu.fill_words(matrices_.owners.at(), kPoison, tiles(), bench_.stream()))
            return error;
        return bench_.check([&] { return multiply_and_check(skip); }, result_, wrong, units_);
    }

    Bench& bench_;
    MatrixType type_;
    std::string name_;
    unsigned threads_;
    MatrixPath path_;
    kernels::u32 size_, depth_;
    Matrices matrices_;
    Kernels kernels_;
    kernels::GemmData data_{};
    ExperimentResult result_;
    UnitCoverage units_;
    unsigned launches_ = 0;
    double ms_ = 0;
};

bool is_asked_for(const Settings& settings, const std::string& name) {
    return std::find(settings.gemm_types.begin(), settings.gemm_types.end(), name) !=
           settings.gemm_types.end();
}

}  // namespace

void run_gemm(Bench& bench, const Sink& sink) {
    ExperimentResult none = begin_result(bench, Kind::gemm, "", "");
    const Fact<kernels::Image> image = bench.look_for("gemm");
    if (!image.known()) {
        none.ran = Missing{image.source(), "image absent: " + image.why()};
        sink(none);
        return;
    }
    for (const MatrixType type : kTypes) {
        const std::string name = name_of_type(type);
        const bool asked = is_asked_for(bench.settings(), name);
        if (!asked && !bench.settings().gemm_types.empty()) continue;
        if (matrix_shape(image->target, type).wave != 0) {
            sink(GemmRun(bench, type, image->target).run());
        } else if (asked) {
            ExperimentResult lacking = begin_result(bench, Kind::gemm, name, "");
            lacking.ran =
                Missing{bench.properties().architecture, "this architecture does not have the type"};
            sink(lacking);
        }
    }
}

}  // namespace gpucheck::experiments
