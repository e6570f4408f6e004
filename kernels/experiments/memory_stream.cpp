// Finds memory that is slower than its board's: large arrays, every channel, and what was moved is compared
// word by word, because fast and wrong is no bandwidth.
#include <algorithm>

#include "kernels/experiments/experiments.h"
#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;

constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
constexpr std::uint32_t kPoison = 0xA5A5A5A5U;
constexpr std::uint64_t kFactor = 3;

struct Kernels {
    gpu::Kernel write, copy, triad, read, verify;
};

/// Three arrays of the same size; a and b hold base + index * step.
struct Arrays {
    explicit Arrays(gpu::Gpu& gpu) : a(gpu), b(gpu), c(gpu) {}
    DeviceMemory a, b, c;
    std::uint64_t bytes = 0;
    std::uint64_t pairs() const { return bytes / 16; }
};

Done find_kernels(Bench& bench, Kernels& kernels) {
    if (Done error = bench.find("memory_stream", "stream_write", kernels.write)) return error;
    if (Done error = bench.find("memory_stream", "stream_copy", kernels.copy)) return error;
    if (Done error = bench.find("memory_stream", "stream_triad", kernels.triad)) return error;
    if (Done error = bench.find("memory_stream", "stream_read", kernels.read)) return error;
    return bench.find("memory_stream", "stream_verify", kernels.verify);
}

Done take_arrays(Bench& bench, Arrays& arrays) {
    std::uint64_t free = 0, total = 0;
    if (Done error = bench.gpu().memory(free, total)) return error;
    for (std::uint64_t bytes = std::min(bench.settings().stream_bytes, free / 4); bytes >= kLeast;
         bytes /= 2) {
        arrays.bytes = bytes / 256 * 256;
        Done error = arrays.a.allocate(arrays.bytes);
        if (!error) error = arrays.b.allocate(arrays.bytes);
        if (!error) error = arrays.c.allocate(arrays.bytes);
        if (!error || !error->out_of_memory) return error;
    }
    return gpu::Failure{"free memory", "less than 4 MiB is free", true};
}

/// One way to move memory: a launch, its result's place and closed form.
struct Motion {
    const char* name;
    double bytes_per_byte;  ///< moved for one byte of one array
    std::function<Done()> launch;
    gpu::DevicePointer target;
    std::uint64_t base, step;
};

class StreamRun {
  public:
    StreamRun(Bench& bench, const Arrays& arrays, const Kernels& kernels, Motion motion)
        : bench_(bench), arrays_(arrays), kernels_(kernels), motion_(std::move(motion)) {}

    ExperimentResult run() {
        result_ = begin_result(bench_, Kind::memory_stream, motion_.name,
                               "bytes=" + std::to_string(arrays_.bytes) +
                                   " reps=" + std::to_string(bench_.settings().stream_reps));
        std::vector<double> rates;
        for (unsigned rep = 0; rep <= bench_.settings().stream_reps && !bench_.late(); ++rep) {
            std::uint64_t wrong = 0;
            const bool skip = rep == 1 && bench_.settings().inject.kind == Injection::Kind::skip;
            if (const Done error = once(skip, wrong)) return failed(result_, *error);
            ++launches_;
            if (rep > 0 && ms_ > 0 && wrong == 0)
                rates.push_back(motion_.bytes_per_byte * static_cast<double>(arrays_.bytes) / (ms_ * 1e6));
            if (wrong == 0 || result_.repeat.known()) continue;
            ExperimentResult before = result_;
            std::uint64_t again = 0;
            if (const Done error = once(false, again)) return failed(result_, *error);
            result_ = std::move(before);
            state_repeat(again != 0, result_);
        }
        if (launches_ == 0) return out_of_time(result_);
        conclude();
        if (!rates.empty()) result_.quantities.push_back(quantity(motion_.name, "GB/s", std::move(rates)));
        return std::move(result_);
    }

  private:
    void conclude() {
        result_.values_expected = Fact<std::uint64_t>(arrays_.bytes / 8 * launches_, "words of the array");
        result_.bytes_tested = Fact<std::uint64_t>(arrays_.bytes, "allocated");
        result_.bytes_total = Fact<std::uint64_t>(bench_.properties().total_bytes, "the driver's library");
        units_.state(bench_, result_);
        result_.ran = Fact<bool>(true, std::string("stream_") + motion_.name);
    }
    Done once(bool skip, std::uint64_t& wrong) {
        if (Done error = bench_.gpu().fill_words(motion_.target, kPoison, arrays_.bytes / 4, bench_.stream()))
            return error;
        if (Done error = bench_.timed([&]() -> Done { return skip ? std::nullopt : motion_.launch(); }, ms_))
            return error;
        return bench_.check(
            [&] {
                return bench_.launch(kernels_.verify, bench_.memory_shape(), motion_.target, arrays_.pairs(),
                                     motion_.base, motion_.step, std::uint64_t{0}, bench_.result());
            },
            result_, wrong, units_);
    }

    Bench& bench_;
    const Arrays& arrays_;
    const Kernels& kernels_;
    Motion motion_;
    ExperimentResult result_;
    UnitCoverage units_;
    double ms_ = 0;
    unsigned launches_ = 0;
};

// The sum of base + i * step over all words, modulo 2^64.
std::uint64_t sum_of(std::uint64_t words, std::uint64_t base, std::uint64_t step) {
    const std::uint64_t pairs = words % 2 == 0 ? (words / 2) * (words - 1) : words * ((words - 1) / 2);
    return words * base + pairs * step;
}

/// Reading is told by the sum of what was read; a wrong one has no place, only the other variants do.
ExperimentResult run_read(Bench& bench, const Arrays& arrays, const Kernels& kernels, std::uint64_t base,
                          std::uint64_t step) {
    ExperimentResult result = begin_result(
        bench, Kind::memory_stream, "read",
        "bytes=" + std::to_string(arrays.bytes) + " reps=" + std::to_string(bench.settings().stream_reps));
    const std::uint64_t words = arrays.bytes / 8, expected = sum_of(words, base, step);
    std::vector<double> rates;
    std::uint64_t checked = 0, launches = 0, wrong = 0, wrong_after = 0;
    for (unsigned rep = 0; rep <= bench.settings().stream_reps && !bench.late(); ++rep, ++launches) {
        double ms = 0;
        const kernels::CheckResult* found = nullptr;
        Done error = bench.clear_result();
        if (!error)
            error = bench.timed(
                [&] {
                    return bench.launch(kernels.read, bench.memory_shape(), arrays.a.at(), arrays.pairs(),
                                        bench.result());
                },
                ms);
        if (!error) error = bench.read_result(found);
        if (error) return failed(result, *error);
        checked += found->checked;
        if (wrong != 0) wrong_after += found->checksum != expected ? 1 : 0;
        if (found->checksum != expected) ++wrong;
        const bool right = found->checksum == expected && found->checked == words;
        if (rep > 0 && ms > 0 && right) rates.push_back(static_cast<double>(arrays.bytes) / (ms * 1e6));
    }
    if (launches == 0) return out_of_time(result);
    const std::string source = "sum of all words";
    result.values_checked = Fact<std::uint64_t>(checked, source);
    result.values_expected = Fact<std::uint64_t>(words * launches, "words of the array");
    result.mismatches = Fact<std::uint64_t>(wrong, source);
    if (wrong > 0) state_repeat(wrong_after > 0, result);
    result.bytes_tested = Fact<std::uint64_t>(arrays.bytes, "allocated");
    result.bytes_total = Fact<std::uint64_t>(bench.properties().total_bytes, "the driver's library");
    if (!rates.empty()) result.quantities.push_back(quantity("read", "GB/s", std::move(rates)));
    result.ran = Fact<bool>(true, "stream_read");
    return result;
}

}  // namespace

void run_memory_stream(Bench& bench, const Sink& sink) {
    ExperimentResult none = begin_result(bench, Kind::memory_stream, "", "");
    Arrays arrays(bench.gpu());
    Kernels kernels;
    Done error = find_kernels(bench, kernels);
    if (!error) error = take_arrays(bench, arrays);
    if (error) {
        sink(failed(none, *error));
        return;
    }
    const gpu::Shape shape = bench.memory_shape();
    const std::uint64_t base = kernels::mix64(bench.settings().seed), step = odd_step(bench.settings().seed);
    const std::uint64_t pairs = arrays.pairs();
    const gpu::DevicePointer a = arrays.a.at(), b = arrays.b.at(), c = arrays.c.at();
    const auto run = [&](Motion motion) { sink(StreamRun(bench, arrays, kernels, std::move(motion)).run()); };
    run({"write", 1, [&] { return bench.launch(kernels.write, shape, a, pairs, base, step); }, a, base,
         step});
    sink(run_read(bench, arrays, kernels, base, step));
    run({"copy", 2, [&] { return bench.launch(kernels.copy, shape, b, a, pairs); }, b, base, step});
    run({"triad", 3, [&] { return bench.launch(kernels.triad, shape, c, a, b, pairs, kFactor); }, c,
         base + kFactor * base, step + kFactor * step});
}

}  // namespace gpucheck::experiments
