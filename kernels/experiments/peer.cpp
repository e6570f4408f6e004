// Finds a pair of GPUs whose link is slow or changes what it carries: a copy from one to the other, compared
// word by word where it arrives.
#include <algorithm>

#include "kernels/experiments/experiments.h"
#include "kernels/hash.h"

namespace gpucheck::experiments {
namespace {

using gpu::Done;

constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
constexpr std::uint32_t kPoison = 0xA5A5A5A5U;

struct Pair {
    Pair(Bench& sender, Bench& receiver)
        : from(sender), to(receiver), source(sender.gpu()), target(receiver.gpu()) {}
    Bench& from;
    Bench& to;
    DeviceMemory source, target;
    gpu::Kernel write, verify;
    std::uint64_t bytes = 0, base = 0, step = 0;
};

Done prepare(Pair& pair) {
    std::uint64_t free = 0, other = 0, total = 0;
    if (Done error = pair.from.find("memory_stream", "stream_write", pair.write)) return error;
    if (Done error = pair.to.find("memory_stream", "stream_verify", pair.verify)) return error;
    if (Done error = pair.from.gpu().memory(free, total)) return error;
    if (Done error = pair.to.gpu().memory(other, total)) return error;
    pair.bytes =
        std::max(std::min(pair.from.settings().peer_bytes, std::min(free, other) / 2), kLeast) / 256 * 256;
    if (Done error = pair.source.allocate(pair.bytes)) return error;
    if (Done error = pair.target.allocate(pair.bytes)) return error;
    pair.base = kernels::mix64(pair.from.settings().seed + 2);
    pair.step = odd_step(pair.from.settings().seed + 2);
    if (Done error = pair.from.launch(pair.write, pair.from.memory_shape(), pair.source.at(), pair.bytes / 16,
                                      pair.base, pair.step))
        return error;
    return pair.from.wait();
}

Done copy_once(Pair& pair, bool skip, double& ms, ExperimentResult& result, std::uint64_t& wrong) {
    if (Done error = pair.to.gpu().fill_words(pair.target.at(), kPoison, pair.bytes / 4, pair.to.stream()))
        return error;
    if (Done error = pair.to.wait()) return error;
    const Done copied = pair.from.timed(
        [&]() -> Done {
            if (skip) return std::nullopt;
            return pair.from.gpu().copy_to_peer(pair.to.gpu(), pair.target.at(), pair.source.at(), pair.bytes,
                                                pair.from.stream());
        },
        ms);
    if (copied) return copied;
    UnitCoverage units;
    return pair.to.check(
        [&] {
            return pair.to.launch(pair.verify, pair.to.memory_shape(), pair.target.at(), pair.bytes / 16,
                                  pair.base, pair.step, std::uint64_t{0}, pair.to.result());
        },
        result, wrong, units);
}

Done measure(Pair& pair, ExperimentResult& result, std::vector<double>& rates, std::uint64_t& copies) {
    const Settings& settings = pair.from.settings();
    for (unsigned rep = 0; rep <= settings.peer_reps && !pair.from.late(); ++rep) {
        double ms = 0;
        std::uint64_t wrong = 0;
        const bool skip = rep == 1 && settings.inject.kind == Injection::Kind::skip;
        if (Done error = copy_once(pair, skip, ms, result, wrong)) return error;
        ++copies;
        if (rep > 0 && ms > 0 && wrong == 0) rates.push_back(static_cast<double>(pair.bytes) / (ms * 1e6));
        if (wrong == 0 || result.repeat.known()) continue;
        ExperimentResult before = result;
        std::uint64_t again = 0;
        if (Done error = copy_once(pair, false, ms, result, again)) return error;
        result = std::move(before);
        state_repeat(again != 0, result);
    }
    return std::nullopt;
}

}  // namespace

void run_peer(Bench& from, Bench& to, const std::string& to_address, const Sink& sink) {
    Pair pair(from, to);
    bool direct = false;
    Done error = from.gpu().reach_peer(to.gpu(), direct);
    ExperimentResult result = begin_result(from, Kind::peer, direct ? "direct" : "through the host",
                                           "reps=" + std::to_string(from.settings().peer_reps));
    result.peer = to_address;
    if (!error) error = prepare(pair);
    std::vector<double> rates;
    std::uint64_t copies = 0;
    if (!error) error = measure(pair, result, rates, copies);
    if (error) {
        sink(failed(result, *error));
        return;
    }
    if (copies == 0) {
        sink(out_of_time(result));
        return;
    }
    result.parameters =
        Fact<std::string>(*result.parameters + " bytes=" + std::to_string(pair.bytes), "settings");
    result.values_expected = Fact<std::uint64_t>(pair.bytes / 8 * copies, "words copied");
    if (!rates.empty()) result.quantities.push_back(quantity("copy", "GB/s", std::move(rates)));
    result.ran = Fact<bool>(true, "copies to the peer");
    sink(result);
}

}  // namespace gpucheck::experiments
