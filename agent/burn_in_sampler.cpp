// Samples power, temperature, clock, throttle reasons and the host link of one GPU under load.
#include "agent/burn_in_sampler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/host/sysroot.h"
#include "agent/vendor/nvml_calls.h"
#include "checks/model/pcie.h"

namespace gpucheck {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPeriod{100};
constexpr std::size_t kMostSamples = 36000;  // an hour
// nvml.h, nvmlClocksEventReason*: idle, applications clocks, sync boost, software power cap and display
// clocks are limits that somebody wanted, or the ordinary end of a power budget.
constexpr std::uint64_t kWanted = 0x1 | 0x2 | 0x4 | 0x10 | 0x100;

std::optional<double> scaled(const Fact<std::uint64_t>& fact, double divisor) {
    if (!fact.known()) return std::nullopt;
    return static_cast<double>(*fact) / divisor;
}

/// The link as the kernel's files say it now.
void sample_link(const host::Sysroot& root, const std::string& folder, LoadSample& sample) {
    const Fact<std::string> speed = root.read_line(folder + "/current_link_speed");
    if (speed.known()) {
        const auto parsed = link_speed_from(*speed);
        if (parsed) {
            const unsigned number = generation(*parsed);
            if (number != 0) sample.link_generation = number;
        }
    }
    const Fact<std::uint64_t> width = root.read_u64(folder + "/current_link_width");
    if (width.known()) sample.link_width = *width;
}

/// amdgpu's hwmon files: Documentation/gpu/amdgpu/thermal.rst.
void sample_hwmon(const host::Sysroot& root, const std::string& hwmon, LoadSample& sample) {
    if (hwmon.empty()) return;
    Fact<std::uint64_t> power = root.read_u64(hwmon + "/power1_average");
    if (!power.known()) power = root.read_u64(hwmon + "/power1_input");
    sample.power_w = scaled(power, 1e6);
    sample.temperature_c = scaled(root.read_u64(hwmon + "/temp2_input"), 1000);
    sample.memory_temperature_c = scaled(root.read_u64(hwmon + "/temp3_input"), 1000);
    sample.clock_mhz = scaled(root.read_u64(hwmon + "/freq1_input"), 1e6);
}

std::string hwmon_of(const host::Sysroot& root, const std::string& folder) {
    const auto names = root.list(folder + "/hwmon");
    return names.known() && !names->empty() ? folder + "/hwmon/" + names->front() : std::string();
}

/// NVML's answers for one GPU; silent where it has none.
class NvmlSampler {
  public:
    NvmlSampler(const vendor::LibrarySource& source, const Bdf& bdf) {
        auto opened = vendor::Library::open(source, {"libnvidia-ml.so.1"});
        if (!std::holds_alternative<vendor::Library>(opened)) return;
        auto resolved = vendor::nvml::resolve(std::get<vendor::Library>(opened));
        if (!std::holds_alternative<vendor::nvml::Calls>(resolved)) return;
        calls_ = std::get<vendor::nvml::Calls>(resolved);
        ready_ =
            calls_.init.function() == 0 && calls_.handle_by_bus_id.function(bdf.str().c_str(), &device_) == 0;
    }
    void sample(LoadSample& sample) const {
        if (!ready_) return;
        unsigned value = 0;
        unsigned long long reasons = 0;
        if (calls_.power.function != nullptr && calls_.power.function(device_, &value) == 0)
            sample.power_w = value / 1000.0;
        if (calls_.temperature.function != nullptr && calls_.temperature.function(device_, 0, &value) == 0)
            sample.temperature_c = value;
        if (calls_.clock.function != nullptr &&
            calls_.clock.function(device_, vendor::nvml::kClockSm, &value) == 0)
            sample.clock_mhz = value;
        if (calls_.event_reasons.function != nullptr && calls_.event_reasons.function(device_, &reasons) == 0)
            sample.throttle_mask = reasons;
        if (sample.link_generation) return;
        if (calls_.pcie_generation.function != nullptr &&
            calls_.pcie_generation.function(device_, &value) == 0)
            sample.link_generation = value;
        if (calls_.pcie_width.function != nullptr && calls_.pcie_width.function(device_, &value) == 0)
            sample.link_width = value;
    }

  private:
    vendor::nvml::Calls calls_;
    vendor::nvml::Device device_ = nullptr;
    bool ready_ = false;
};

Fact<Quantity> summary_of(const std::vector<LoadSample>& samples, std::optional<double> LoadSample::*member,
                          const char* name, const char* unit, const std::string& source) {
    std::vector<double> values;
    for (const LoadSample& sample : samples) {
        if (sample.*member) values.push_back(*(sample.*member));
    }
    if (values.empty()) return Missing{source, "no sample"};
    std::sort(values.begin(), values.end());
    Quantity quantity;
    quantity.name = name;
    quantity.unit = unit;
    quantity.samples = values.size();
    quantity.median = values[values.size() / 2];
    quantity.min = values.front();
    quantity.max = values.back();
    return {quantity, source};
}

}  // namespace

LoadSamples summarise(const std::vector<LoadSample>& samples, double seconds, const std::string& source) {
    LoadSamples load;
    load.samples = Fact<std::uint64_t>(samples.size(), source);
    load.seconds = Fact<double>(seconds, source);
    load.power_w = summary_of(samples, &LoadSample::power_w, "power", "W", source);
    load.temperature_c = summary_of(samples, &LoadSample::temperature_c, "temperature", "C", source);
    load.memory_temperature_c =
        summary_of(samples, &LoadSample::memory_temperature_c, "memory temperature", "C", source);
    load.clock_mhz = summary_of(samples, &LoadSample::clock_mhz, "clock", "MHz", source);
    std::uint64_t mask = 0, reasons = 0, throttled = 0;
    std::optional<std::uint64_t> generation, width;
    for (const LoadSample& sample : samples) {
        if (sample.throttle_mask) {
            ++reasons;
            mask |= *sample.throttle_mask;
            if ((*sample.throttle_mask & ~kWanted) != 0) ++throttled;
        }
        if (sample.link_generation) generation = std::max(generation.value_or(0), *sample.link_generation);
        if (sample.link_width) width = std::min(width.value_or(*sample.link_width), *sample.link_width);
    }
    const Missing none{source, "no sample"};
    load.throttle_mask = reasons != 0 ? Fact<std::uint64_t>(mask, source) : Fact<std::uint64_t>(none);
    load.throttled_share =
        reasons != 0 ? Fact<double>(static_cast<double>(throttled) / static_cast<double>(reasons), source)
                     : Fact<double>(none);
    load.link_generation_max =
        generation ? Fact<std::uint64_t>(*generation, source) : Fact<std::uint64_t>(none);
    load.link_width_min = width ? Fact<std::uint64_t>(*width, source) : Fact<std::uint64_t>(none);
    return load;
}

struct Sampler::Shared {
    SamplerTarget target;
    std::function<void(const LoadSamples&)> tell;
    std::mutex mutex;
    std::condition_variable changed;
    bool stop = false, ended = false;

    // True when it is time to end.
    bool sleep() {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, kPeriod, [&] { return stop; });
    }
    void watch() {
        const host::Sysroot root = host::Sysroot::live();
        const std::string folder = "/sys/bus/pci/devices/" + target.bdf.str();
        const bool amd = target.vendor == Vendor::amd;
        const std::string hwmon = amd && target.files ? hwmon_of(root, folder) : std::string();
        std::optional<NvmlSampler> nvml;
        if (!amd) nvml.emplace(target.libraries, target.bdf);
        std::vector<LoadSample> samples;
        const SteadyClock::time_point start = SteadyClock::now();
        bool last = false;
        while (!last) {
            last = sleep() || samples.size() >= kMostSamples;
            LoadSample& sample = samples.emplace_back();
            if (target.files) sample_link(root, folder, sample);
            if (amd) sample_hwmon(root, hwmon, sample);
            if (nvml) nvml->sample(sample);
            if (last || samples.size() % 10 == 0)
                tell(summarise(samples, std::chrono::duration<double>(SteadyClock::now() - start).count(),
                               amd ? "hwmon" : "NVML"));
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
    shared_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return shared_->ended; });
}

}  // namespace gpucheck
