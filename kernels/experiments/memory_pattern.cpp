// Finds memory that does not keep what is written: six patterns over all that is free, so that every bit is
// both and every address is its own.
#include <algorithm>
#include <array>
#include <memory>

#include "kernels/experiments/experiments.h"
#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;
using kernels::Pattern;

constexpr std::array<const char*, kernels::kPatterns> kNames{
    "own_address", "inverse_address", "random", "inverse_random", "walking_one", "walking_zero"};
constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
constexpr std::uint64_t kGrain = std::uint64_t{1} << 12;
constexpr std::size_t kMostChunks = 16;
constexpr std::uint32_t kPoison = 0xA5A5A5A5U;

struct Chunk {
    std::unique_ptr<DeviceMemory> memory;
    std::uint64_t bytes = 0, first_word = 0;
};

/// All memory under test: one block where the driver gives one, else several.
struct Tested {
    std::vector<Chunk> chunks;
    std::uint64_t bytes = 0;
};

Done take_memory(Bench& bench, Tested& tested) {
    const Settings& settings = bench.settings();
    std::uint64_t free = 0, total = 0;
    if (Done error = bench.gpu().memory(free, total)) return error;
    std::uint64_t left =
        settings.pattern_bytes != 0 ? settings.pattern_bytes : free / 100 * settings.pattern_percent;
    left = left / kGrain * kGrain;
    std::uint64_t size = left;
    Done last;
    while (left >= kLeast && size >= kLeast && tested.chunks.size() < kMostChunks) {
        auto memory = std::make_unique<DeviceMemory>(bench.gpu());
        last = memory->allocate(size);
        if (last && !last->out_of_memory) return last;
        if (last) {
            size = size / 4 * 3 / kGrain * kGrain;
            continue;
        }
        tested.chunks.push_back({std::move(memory), size, tested.bytes / 8});
        tested.bytes += size;
        left -= size;
        size = left;
    }
    if (!tested.chunks.empty()) return std::nullopt;
    return last ? last : gpu::Failure{"free memory", "less than 1 MiB is free", true};
}

Done poison_all(Bench& bench, const Tested& tested) {
    for (const Chunk& chunk : tested.chunks) {
        if (Done error = bench.gpu().fill_words(chunk.memory->at(), kPoison, chunk.bytes / 4, bench.stream()))
            return error;
    }
    return std::nullopt;
}

class PatternRun {
  public:
    PatternRun(Bench& bench, Tested& tested, gpu::Kernel fill, gpu::Kernel check, Pattern pattern)
        : bench_(bench),
          tested_(tested),
          fill_(fill),
          check_(check),
          pattern_(pattern),
          name_(kNames[static_cast<std::size_t>(pattern)]) {}

    ExperimentResult run() {
        const Settings& settings = bench_.settings();
        result_ = begin_result(
            bench_, Kind::memory_pattern, name_,
            "bytes=" + std::to_string(tested_.bytes) + " passes=" + std::to_string(settings.pattern_passes));
        std::vector<double> written, read;
        for (unsigned pass = 0; pass < settings.pattern_passes; ++pass) {
            if (bench_.late()) break;
            std::uint64_t wrong = 0;
            const std::uint64_t seed = settings.seed + pass;
            const bool skip = pass == 0 && settings.inject.kind == Injection::Kind::skip;
            // The first time the pattern before it is in the way, and no two are alike; what this one left
            // itself must not pass for what it writes again.
            if (const Done error = once(seed, skip, pass > 0, wrong)) return failed(result_, *error);
            ++passes_;
            written.push_back(gigabytes(fill_ms_));
            read.push_back(gigabytes(check_ms_));
            if (wrong == 0 || result_.repeat.known()) continue;
            ExperimentResult before = result_;  // what the repetition finds is no further mismatch
            std::uint64_t again = 0;
            if (const Done error = once(seed, false, true, again)) return failed(result_, *error);
            result_ = std::move(before);
            state_repeat(again != 0, result_);
        }
        if (passes_ == 0) return out_of_time(result_);
        conclude();
        result_.quantities.push_back(quantity("fill", "GB/s", std::move(written)));
        result_.quantities.push_back(quantity("check", "GB/s", std::move(read)));
        return std::move(result_);
    }

  private:
    double gigabytes(double ms) const { return ms > 0 ? static_cast<double>(tested_.bytes) / (ms * 1e6) : 0; }

    void conclude() {
        const std::string source = "cuMemAlloc or hipMalloc";
        result_.values_expected =
            Fact<std::uint64_t>(tested_.bytes / 8 * passes_, "words of the tested memory");
        result_.bytes_tested = Fact<std::uint64_t>(tested_.bytes, "allocated");
        result_.bytes_total = Fact<std::uint64_t>(bench_.properties().total_bytes, "the driver's library");
        units_.state(bench_, result_);
        result_.ran = Fact<bool>(true, "pattern_fill, pattern_check");
    }

    Done write(std::uint64_t seed) {
        const auto kind = static_cast<kernels::u32>(pattern_);
        for (const Chunk& chunk : tested_.chunks) {
            if (Done error = bench_.launch(fill_, bench_.memory_shape(), chunk.memory->at(), chunk.bytes / 16,
                                           chunk.first_word, kind, seed))
                return error;
        }
        return std::nullopt;
    }
    Done compare(std::uint64_t seed) {
        const auto kind = static_cast<kernels::u32>(pattern_);
        for (const Chunk& chunk : tested_.chunks) {
            if (Done error = bench_.launch(check_, bench_.memory_shape(), chunk.memory->at(),
                                           chunk.bytes / 16, chunk.first_word, kind, seed, bench_.result()))
                return error;
        }
        return std::nullopt;
    }
    // Flips a bit where it lies, with the copies that anybody could make.
    Done inject(std::uint64_t seed) {
        const std::uint64_t bytes = tested_.chunks.front().bytes;
        const std::uint64_t hash = kernels::mix64(seed ^ static_cast<std::uint64_t>(pattern_));
        const std::uint64_t offset = bench_.settings().inject.place.value_or(hash % bytes) % bytes / 8 * 8;
        PinnedMemory word(bench_.gpu());
        if (Done error = word.allocate(8)) return error;
        const gpu::DevicePointer at = tested_.chunks.front().memory->at() + offset;
        if (Done error = bench_.gpu().copy(gpu::Direction::to_host, word.at(), at, 8, bench_.stream()))
            return error;
        if (Done error = bench_.wait()) return error;
        *word.as<std::uint64_t>() ^= std::uint64_t{1} << (hash >> 58);
        if (Done error = bench_.gpu().copy(gpu::Direction::to_device, at, word.at(), 8, bench_.stream()))
            return error;
        return bench_.wait();
    }

    Done once(std::uint64_t seed, bool skip, bool poison, std::uint64_t& wrong) {
        if (poison) {
            if (Done error = poison_all(bench_, tested_)) return error;
        }
        if (!skip) {
            if (Done error = bench_.timed([&] { return write(seed); }, fill_ms_)) return error;
        }
        if (bench_.settings().inject.kind == Injection::Kind::bit) {
            if (Done error = inject(seed)) return error;
        }
        return bench_.check([&] { return bench_.timed([&] { return compare(seed); }, check_ms_); }, result_,
                            wrong, units_);
    }

    Bench& bench_;
    Tested& tested_;
    gpu::Kernel fill_, check_;
    Pattern pattern_;
    std::string name_;
    ExperimentResult result_;
    UnitCoverage units_;
    double fill_ms_ = 0, check_ms_ = 0;
    unsigned passes_ = 0;
};

}  // namespace

void run_memory_pattern(Bench& bench, const Sink& sink) {
    ExperimentResult none = begin_result(bench, Kind::memory_pattern, "", "");
    Tested tested;
    gpu::Kernel fill, check;
    Done error = bench.find("memory_pattern", "pattern_fill", fill);
    if (!error) error = bench.find("memory_pattern", "pattern_check", check);
    if (!error) error = take_memory(bench, tested);
    // What an earlier run left must not pass for what this one writes.
    if (!error) error = poison_all(bench, tested);
    if (error) {
        sink(failed(none, *error));
        return;
    }
    for (std::size_t i = 0; i < kNames.size(); ++i)
        sink(PatternRun(bench, tested, fill, check, static_cast<Pattern>(i)).run());
}

}  // namespace gpucheck::experiments
