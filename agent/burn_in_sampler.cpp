// The thread that samples one GPU under load.
#include "agent/burn_in_sampler.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "agent/burn_in_sources.h"
#include "agent/host/sysroot.h"

namespace gpucheck {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPeriod{50};
constexpr std::uint64_t kMostSamples = 72000;  // an hour
constexpr std::uint64_t kToTell = 20, kToCountErrors = 100;

}  // namespace

struct Sampler::Shared {
    SamplerTarget target;
    std::function<void(const LoadSamples&)> tell;
    std::atomic<bool> copying{false};
    std::atomic<bool> abandoned{false};  ///< nobody listens any more
    std::mutex mutex;
    std::condition_variable changed;
    bool stop = false, ended = false;

    // True when it is time to end.
    bool sleep_until(SteadyClock::time_point moment) {
        std::unique_lock lock(mutex);
        return changed.wait_until(lock, moment, [&] { return stop; });
    }
    void watch() {
        const host::Sysroot root = host::Sysroot::live();
        const host::Sysroot* files = target.files ? &root : nullptr;
        std::function<host::Sysroot()> fresh;
        if (!target.counts_reset) fresh = [] { return host::Sysroot::live(); };
        const auto source = target.vendor == Vendor::amd ? amdgpu_source(files, target.bdf, std::move(fresh))
                                                         : nvml_source(target.libraries, target.bdf, files);
        LoadHistory history;
        const SteadyClock::time_point start = SteadyClock::now();
        SteadyClock::time_point next = start;
        bool last = false;
        for (std::uint64_t i = 0; !last; ++i) {
            // A sample that took longer than its turn moves the others: none is made up for.
            next = std::max(next + kPeriod, SteadyClock::now());
            last = sleep_until(next) || i + 1 >= kMostSamples;
            LoadSample sample;
            const bool before = copying.load();
            sample.ecc_read = last || i % kToCountErrors == 0;
            sample.copying = before;
            source->sample(sample, sample.ecc_read);
            // Copies that ended meanwhile prove nothing about what was read.
            sample.copying = sample.copying && copying.load();
            history.add(sample);
            const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();
            if (abandoned.load()) return;
            if (last || i % kToTell == kToTell - 1) tell(history.summary(seconds));
        }
    }
};

Sampler::Sampler(SamplerTarget target, std::function<void(const LoadSamples&)> tell)
    : shared_(std::make_shared<Shared>()) {
    shared_->target = std::move(target);
    shared_->tell = std::move(tell);
    std::thread([shared = shared_] {
        shared->watch();
        const std::lock_guard lock(shared->mutex);
        shared->ended = true;
        shared->changed.notify_all();
    }).detach();
}

Sampler::~Sampler() {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
    const bool ended =
        shared_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return shared_->ended; });
    if (!ended) shared_->abandoned.store(true);
}

void Sampler::enter(std::string_view stage) {
    shared_->copying.store(stage == "host_link");
}

}  // namespace gpucheck
