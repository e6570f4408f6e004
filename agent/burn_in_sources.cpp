// NVML and amdgpu under load; see burn_in_sources.h.
#include "agent/burn_in_sources.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/vendor/amdgpu_hwmon.h"
#include "agent/vendor/amdgpu_text.h"
#include "agent/vendor/gpu_metrics.h"
#include "agent/vendor/nvml_calls.h"
#include "agent/vendor/nvml_decode.h"
#include "checks/model/pcie.h"

namespace gpucheck {
namespace {

namespace nvml = vendor::nvml;

std::string folder_of(const Bdf& bdf) {
    return "/sys/bus/pci/devices/" + bdf.str() + "/";
}

/// The link as the kernel's files say it now.
void sample_link(const host::Sysroot& root, const std::string& folder, LoadSample& sample) {
    const Fact<std::string> speed = root.read_line(folder + "current_link_speed");
    sample.link_generation = convert_fact<std::uint64_t>(speed, [](const std::string& text) {
        const auto parsed = link_speed_from(text);
        const unsigned number = parsed ? generation(*parsed) : 0;
        return number != 0 ? std::optional<std::uint64_t>(number) : std::nullopt;
    });
    sample.link_width = root.read_u64(folder + "current_link_width");
}

class NvmlSource final : public LoadSource {
  public:
    NvmlSource(const vendor::LibrarySource& libraries, const Bdf& bdf, const host::Sysroot* root)
        : root_(root), folder_(folder_of(bdf)), why_(open(libraries, bdf)) {}

    void sample(LoadSample& sample, bool with_ecc) override {
        if (root_ != nullptr) sample_link(*root_, folder_, sample);
        if (why_) return nothing(sample);
        constexpr double kMilli = 1000;
        sample.power_w = scaled(number(calls_.power), kMilli);
        sample.power_limit_w = scaled(number(calls_.power_enforced), kMilli);
        sample.temperature_c = scaled(number(calls_.temperature, 0U), 1);
        sample.clock_mhz = scaled(number(calls_.clock, nvml::kClockSm), 1);
        sample.memory_temperature_c = memory_temperature();
        sample.throttle_mask = ask<unsigned long long>(calls_.event_reasons);
        if (with_ecc) {
            sample.ecc_corrected =
                ask<unsigned long long>(calls_.ecc_total, nvml::kCorrected, nvml::kVolatile);
            sample.ecc_uncorrected =
                ask<unsigned long long>(calls_.ecc_total, nvml::kUncorrected, nvml::kVolatile);
        }
        sample_activity(sample);
        if (sample.link_generation.known()) return;
        sample.link_generation = number(calls_.pcie_generation);
        sample.link_width = number(calls_.pcie_width);
    }

  private:
    std::optional<Missing> open(const vendor::LibrarySource& libraries, const Bdf& bdf) {
        auto opened = vendor::Library::open(libraries, {"libnvidia-ml.so.1"});
        if (const auto* missing = std::get_if<Missing>(&opened)) return *missing;
        auto resolved = nvml::resolve(std::get<vendor::Library>(opened));
        if (const auto* missing = std::get_if<Missing>(&resolved)) return *missing;
        calls_ = std::get<nvml::Calls>(resolved);
        if (const nvml::Return code = calls_.init.function(); code != nvml::kSuccess)
            return Missing{calls_.init.name, nvml::name_of(code)};
        const nvml::Return code = calls_.handle_by_bus_id.function(bdf.str().c_str(), &device_);
        if (code != nvml::kSuccess) return Missing{calls_.handle_by_bus_id.name, nvml::name_of(code)};
        return std::nullopt;
    }
    void nothing(LoadSample& sample) const {
        for (Fact<double>* fact : {&sample.power_w, &sample.power_limit_w, &sample.temperature_c,
                                   &sample.memory_temperature_c, &sample.clock_mhz})
            *fact = *why_;
        for (Fact<std::uint64_t>* fact :
             {&sample.throttle_mask, &sample.ecc_corrected, &sample.ecc_uncorrected})
            *fact = *why_;
        sample.busy = *why_;
    }
    template <class T, class Signature, class... Arguments>
    Fact<std::uint64_t> ask(const nvml::Call<Signature>& call, Arguments... arguments) const {
        if (call.function == nullptr) return Missing{call.name, "symbol absent"};
        T value = ~T{0};
        const nvml::Return code = call.function(device_, arguments..., &value);
        if (code != nvml::kSuccess) return Missing{call.name, nvml::name_of(code)};
        if (value == ~T{0}) return Missing{call.name, "malformed"};  // never written
        return Fact<std::uint64_t>(value, call.name);
    }
    template <class Signature, class... Arguments>
    Fact<std::uint64_t> number(const nvml::Call<Signature>& call, Arguments... arguments) const {
        return ask<unsigned>(call, arguments...);
    }
    static Fact<double> scaled(const Fact<std::uint64_t>& fact, double divisor) {
        if (!fact.known()) return fact.missing();
        return Fact<double>(static_cast<double>(*fact) / divisor, fact.source());
    }
    Fact<double> memory_temperature() const {
        const auto& call = calls_.field_values;
        if (call.function == nullptr) return Missing{call.name, "symbol absent"};
        nvml::FieldValue field{};
        field.field_id = nvml::kMemoryTemperature;
        field.result = nvml::kUnknown;
        nvml::Return code = call.function(device_, 1, &field);
        if (code == nvml::kSuccess) code = field.result;
        if (code != nvml::kSuccess) return Missing{call.name, nvml::name_of(code)};
        const auto celsius = nvml::unsigned_of(field);
        if (!celsius || *celsius > 250) return Missing{call.name, "malformed"};
        return Fact<double>(static_cast<double>(*celsius), call.name);
    }
    /// Busy, and whether the link may be asked: below P2 a GPU rests, whatever is queued for it.
    void sample_activity(LoadSample& sample) const {
        constexpr std::uint64_t kDeepestAtWork = 2;  // CUDA runs in P2 on boards that keep P0 for graphics
        const Fact<std::uint64_t> state = number(calls_.pstate);
        if (state.known() && *state > kDeepestAtWork) sample.copying = false;
        const auto& call = calls_.utilization;
        nvml::Utilization use{};
        if (call.function != nullptr && call.function(device_, &use) == nvml::kSuccess) {
            sample.busy = Fact<bool>(use.gpu > 0 || use.memory > 0, call.name);
        } else if (state.known()) {
            sample.busy = Fact<bool>(*state <= kDeepestAtWork, state.source());
        } else {
            sample.busy = state.missing();
        }
    }

    const host::Sysroot* root_;
    std::string folder_;
    nvml::Calls calls_;
    nvml::Device device_ = nullptr;
    std::optional<Missing> why_;
};

class AmdgpuSource final : public LoadSource {
  public:
    AmdgpuSource(const host::Sysroot* root, const Bdf& bdf, std::function<host::Sysroot()> fresh)
        : root_(root), folder_(folder_of(bdf)), fresh_(std::move(fresh)) {}

    void sample(LoadSample& sample, bool with_ecc) override {
        if (root_ == nullptr) return nothing(sample);
        sample_link(*root_, folder_, sample);
        AmdTelemetry telemetry;
        vendor::read_hwmon(*root_, folder_, telemetry);
        const Fact<std::string> bytes = root_->read(folder_ + "gpu_metrics", vendor::kMaxGpuMetrics);
        AmdMetrics& metrics = telemetry.metrics;
        if (bytes.known()) {
            metrics = vendor::parse_gpu_metrics(*bytes, bytes.source());
        } else {
            vendor::make_missing(metrics, bytes.missing());
        }
        take_sensors(telemetry, sample);
        sample.residency = metrics.residency;
        const Fact<std::uint64_t> busy = root_->read_u64(folder_ + "gpu_busy_percent");
        sample.busy = convert_fact<bool>(busy, [](std::uint64_t percent) {
            return percent <= 100 ? std::optional(percent > 0) : std::nullopt;
        });
        if (with_ecc) sample_ecc(sample);
    }

  private:
    /// Beside replaced libraries there is no GPU whose files these could be.
    static void nothing(LoadSample& sample) {
        const Missing why{"sysfs", "not reported: this machine's files are not this GPU's"};
        for (Fact<double>* fact : {&sample.power_w, &sample.power_limit_w, &sample.temperature_c,
                                   &sample.memory_temperature_c, &sample.clock_mhz})
            *fact = why;
        for (Fact<std::uint64_t>* fact : {&sample.residency.accumulation_counter, &sample.link_generation,
                                          &sample.link_width, &sample.ecc_corrected, &sample.ecc_uncorrected})
            *fact = why;
        sample.busy = why;
    }
    static void take_sensors(const AmdTelemetry& telemetry, LoadSample& sample) {
        const AmdMetrics& metrics = telemetry.metrics;
        sample.power_w = as_double(telemetry.power_uw, 1e6);
        if (!sample.power_w.known()) sample.power_w = as_double(metrics.socket_power_w, 1);
        sample.power_limit_w = as_double(telemetry.power_cap_uw, 1e6);
        sample.temperature_c = sensor(telemetry, "junction");
        if (!sample.temperature_c.known()) sample.temperature_c = as_double(metrics.hotspot_c, 1);
        sample.memory_temperature_c = sensor(telemetry, "mem");
        if (!sample.memory_temperature_c.known())
            sample.memory_temperature_c = as_double(metrics.memory_c, 1);
        sample.clock_mhz = convert_fact<double>(metrics.gfxclk_mhz, [](const std::vector<unsigned>& clocks) {
            return clocks.empty() ? std::optional<double>()
                                  : std::optional<double>(*std::max_element(clocks.begin(), clocks.end()));
        });
    }
    template <class T>
    static Fact<double> as_double(const Fact<T>& fact, double divisor) {
        if (!fact.known()) return fact.missing();
        return Fact<double>(static_cast<double>(*fact) / divisor, fact.source());
    }
    static Fact<double> sensor(const AmdTelemetry& telemetry, std::string_view label) {
        if (!telemetry.temperatures.known()) return telemetry.temperatures.missing();
        for (const HwmonTemperature& each : *telemetry.temperatures) {
            if (each.label == label) return as_double(each.celsius, 1);
        }
        return Missing{telemetry.temperatures.source(), "ENOENT"};
    }

    void sample_ecc(LoadSample& sample) {
        const std::string folder = folder_ + "ras";
        if (!fresh_) {
            sample.ecc_corrected = sample.ecc_uncorrected =
                Missing{folder, "not reported: reading may set the counts to zero"};
            return;
        }
        constexpr std::string_view kSuffix = "_err_count";
        constexpr std::size_t kMostBlocks = 64;
        const host::Sysroot root = fresh_();
        const Fact<std::vector<std::string>> files = root.list(folder);
        std::uint64_t corrected = 0, uncorrected = 0, blocks = 0;
        Missing why = files.known() ? Missing{folder, "ENOENT"} : files.missing();
        for (const std::string& file : files.known() ? *files : std::vector<std::string>()) {
            if (!file.ends_with(kSuffix) || blocks == kMostBlocks) continue;
            const RasBlock block = vendor::parse_err_count(file, root.read(folder + "/" + file));
            if (!block.correctable.known() || !block.uncorrectable.known()) {
                why = block.correctable.known() ? block.uncorrectable.missing() : block.correctable.missing();
                continue;
            }
            ++blocks;
            corrected += *block.correctable;
            uncorrected += *block.uncorrectable + (block.deferred.known() ? *block.deferred : 0);
        }
        // Counters that come and go with a busy block must not look like errors: all of them, or none.
        if (blocks_ == 0) blocks_ = blocks;
        const bool whole = blocks != 0 && blocks == blocks_;
        sample.ecc_corrected = whole ? Fact<std::uint64_t>(corrected, folder) : Fact<std::uint64_t>(why);
        sample.ecc_uncorrected = whole ? Fact<std::uint64_t>(uncorrected, folder) : Fact<std::uint64_t>(why);
    }

    const host::Sysroot* root_;
    std::string folder_;
    std::function<host::Sysroot()> fresh_;
    std::uint64_t blocks_ = 0;  ///< that answered the first time
};

}  // namespace

std::unique_ptr<LoadSource> nvml_source(const vendor::LibrarySource& libraries, const Bdf& bdf,
                                        const host::Sysroot* root) {
    return std::make_unique<NvmlSource>(libraries, bdf, root);
}

std::unique_ptr<LoadSource> amdgpu_source(const host::Sysroot* root, const Bdf& bdf,
                                          std::function<host::Sysroot()> fresh) {
    return std::make_unique<AmdgpuSource>(root, bdf, std::move(fresh));
}

}  // namespace gpucheck
