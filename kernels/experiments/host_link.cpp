// Finds a host link at a fraction of its width: pinned copies both ways and at once, every word compared
// where it arrives.
#include <algorithm>

#include "kernels/experiments/experiments.h"
#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Direction;
using gpu::Done;

constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
constexpr std::uint32_t kPoison = 0xA5A5A5A5U;

/// Buffers on both sides, and a second stream for copies at the same time.
struct Link {
    explicit Link(gpu::Gpu& gpu) : up(gpu), down(gpu), to(gpu), from(gpu) {}
    PinnedMemory up, down;  ///< host: what is sent, what is received
    DeviceMemory to, from;  ///< device: what is received, what is sent
    gpu::Stream second;
    gpu::Kernel write, verify;
    std::uint64_t bytes = 0, base = 0, step = 0;
};

Done prepare(Bench& bench, Link& link) {
    std::uint64_t free = 0, total = 0;
    if (Done error = bench.find("memory_stream", "stream_write", link.write)) return error;
    if (Done error = bench.find("memory_stream", "stream_verify", link.verify)) return error;
    if (Done error = bench.gpu().memory(free, total)) return error;
    link.bytes = std::max(std::min(bench.settings().link_bytes, free / 3), kLeast) / 256 * 256;
    if (Done error = link.up.allocate(link.bytes)) return error;
    if (Done error = link.down.allocate(link.bytes)) return error;
    if (Done error = link.to.allocate(link.bytes)) return error;
    if (Done error = link.from.allocate(link.bytes)) return error;
    link.base = kernels::mix64(bench.settings().seed + 1);
    link.step = odd_step(bench.settings().seed + 1);
    auto* words = link.up.as<std::uint64_t>();
    for (std::uint64_t i = 0; i < link.bytes / 8; ++i)
        words[i] = kernels::linear_word(link.base, link.step, i);
    return bench.gpu().create(link.second);
}

enum class Way : std::uint8_t { to_device, to_host, both };

class LinkRun {
  public:
    LinkRun(Bench& bench, Link& link, Way way) : bench_(bench), link_(link), way_(way) {}

    ExperimentResult run() {
        const char* name = way_ == Way::to_device ? "h2d" : way_ == Way::to_host ? "d2h" : "both";
        result_ = begin_result(
            bench_, Kind::host_link, name,
            "bytes=" + std::to_string(link_.bytes) + " reps=" + std::to_string(bench_.settings().link_reps));
        std::vector<double> rates;
        for (unsigned rep = 0; rep <= bench_.settings().link_reps && !bench_.late(); ++rep) {
            std::uint64_t wrong = 0;
            const bool skip = rep == 1 && bench_.settings().inject.kind == Injection::Kind::skip;
            if (const Done error = once(skip, wrong)) return failed(result_, *error);
            ++copies_;
            if (rep > 0 && ms_ > 0 && wrong == 0) rates.push_back(moved() / (ms_ * 1e6));
            if (wrong == 0 || result_.repeat.known()) continue;
            ExperimentResult before = result_;
            std::uint64_t again = 0;
            if (const Done error = once(false, again)) return failed(result_, *error);
            result_ = std::move(before);
            state_repeat(again != 0, result_);
        }
        if (copies_ == 0) return out_of_time(result_);
        const std::uint64_t words = link_.bytes / 8 * (way_ == Way::both ? 2 : 1);
        result_.values_expected = Fact<std::uint64_t>(words * copies_, "words copied");
        if (!rates.empty()) result_.quantities.push_back(quantity(name, "GB/s", std::move(rates)));
        result_.ran = Fact<bool>(true, "asynchronous copies of pinned memory");
        return std::move(result_);
    }

  private:
    double moved() const { return static_cast<double>(link_.bytes) * (way_ == Way::both ? 2 : 1); }
    bool up() const { return way_ != Way::to_host; }
    bool down() const { return way_ != Way::to_device; }

    Done poison() {
        if (up()) {
            if (Done error =
                    bench_.gpu().fill_words(link_.to.at(), kPoison, link_.bytes / 4, bench_.stream()))
                return error;
        }
        if (down()) {
            std::fill_n(link_.down.as<std::uint32_t>(), link_.bytes / 4, kPoison);
            if (Done error = bench_.launch(link_.write, bench_.memory_shape(), link_.from.at(),
                                           link_.bytes / 16, ~link_.base, link_.step))
                return error;
        }
        return bench_.wait();
    }
    Done copy() {
        if (up()) {
            if (Done error = bench_.gpu().copy(Direction::to_device, link_.to.at(), link_.up.at(),
                                               link_.bytes, bench_.stream()))
                return error;
        }
        if (!down()) return std::nullopt;
        // At the same time only on another stream; the clock's second event must then wait for it.
        const gpu::Stream stream = up() ? link_.second : bench_.stream();
        if (Done error =
                bench_.gpu().copy(Direction::to_host, link_.down.at(), link_.from.at(), link_.bytes, stream))
            return error;
        return up() ? bench_.gpu().synchronize(stream) : std::nullopt;
    }
    std::uint64_t mismatches() const { return result_.mismatches.known() ? *result_.mismatches : 0; }

    Done once(bool skip, std::uint64_t& wrong) {
        const std::uint64_t before = mismatches();
        if (Done error = poison()) return error;
        if (Done error = bench_.timed([&]() -> Done { return skip ? std::nullopt : copy(); }, ms_))
            return error;
        if (up()) {
            UnitCoverage units;
            const Done error = bench_.check(
                [&] {
                    return bench_.launch(link_.verify, bench_.memory_shape(), link_.to.at(), link_.bytes / 16,
                                         link_.base, link_.step, std::uint64_t{0}, bench_.result());
                },
                result_, wrong, units);
            if (error) return error;
        }
        if (down()) {
            add_received(link_.down.as<std::uint64_t>(), link_.bytes / 8, ~link_.base, link_.step, result_);
        }
        wrong = mismatches() - before;
        return std::nullopt;
    }

    Bench& bench_;
    Link& link_;
    Way way_;
    ExperimentResult result_;
    double ms_ = 0;
    std::uint64_t copies_ = 0;
};

}  // namespace

void run_host_link(Bench& bench, const Sink& sink) {
    ExperimentResult none = begin_result(bench, Kind::host_link, "", "");
    Link link(bench.gpu());
    if (const Done error = prepare(bench, link)) {
        sink(failed(none, *error));
        return;
    }
    for (const Way way : {Way::to_device, Way::to_host, Way::both}) sink(LinkRun(bench, link, way).run());
}

}  // namespace gpucheck::experiments
