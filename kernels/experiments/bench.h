// One GPU made ready for experiments: its kernels loaded, a stream, a pair of events, and the place where
// kernels write what they found. What cannot be had is an answer of the vendor's library, kept by name.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checks/model/measurement.h"
#include "kernels/driver/driver.h"
#include "kernels/experiments/settings.h"
#include "kernels/images.h"
#include "kernels/results.h"

namespace gpucheck::experiments {

using Clock = std::chrono::steady_clock;

/// Device memory that is given back.
class DeviceMemory {
  public:
    explicit DeviceMemory(gpu::Gpu& gpu) : gpu_(gpu) {}
    ~DeviceMemory() { release(); }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    [[nodiscard]] gpu::Done allocate(std::uint64_t bytes);
    void release();
    gpu::DevicePointer at() const { return pointer_; }

  private:
    gpu::Gpu& gpu_;
    gpu::DevicePointer pointer_ = 0;
};

/// Pinned host memory that is given back.
class PinnedMemory {
  public:
    explicit PinnedMemory(gpu::Gpu& gpu) : gpu_(gpu) {}
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    [[nodiscard]] gpu::Done allocate(std::uint64_t bytes);
    template <class T>
    T* as() const {
        return static_cast<T*>(pointer_);
    }
    std::uint64_t at() const { return reinterpret_cast<std::uint64_t>(pointer_); }

  private:
    gpu::Gpu& gpu_;
    void* pointer_ = nullptr;
};

/// The image of a kernel source ("matrix") for an architecture; Missing says what would be needed.
using FindImage =
    std::function<Fact<kernels::Image>(const std::string& architecture, const std::string& source)>;

class Bench {
  public:
    Bench(gpu::Gpu& gpu, const Settings& settings, FindImage find_image)
        : gpu_(gpu), settings_(settings), find_image_(std::move(find_image)) {}

    /// Makes everything but the kernels ready.
    [[nodiscard]] gpu::Done open();

    gpu::Gpu& gpu() { return gpu_; }
    const Settings& settings() const { return settings_; }
    const gpu::Properties& properties() const { return gpu_.properties(); }
    gpu::Stream stream() const { return stream_; }
    unsigned units() const;  ///< to fill: all, or as many as the settings say
    unsigned blocks() const { return units() * settings_.blocks_per_unit; }
    gpu::Shape memory_shape() const { return {blocks(), settings_.threads, 0}; }

    /// Until when the experiment at hand may start something new.
    void set_deadline(Clock::time_point deadline) { deadline_ = deadline; }
    bool late() const { return Clock::now() >= deadline_; }

    /// Loads the image of `source` when it is first asked for. Without one the failure's call is "image".
    [[nodiscard]] gpu::Done find(const std::string& source, const std::string& name, gpu::Kernel& kernel);
    /// The image of `source` for this GPU.
    Fact<kernels::Image> look_for(const std::string& source) const {
        return find_image_(gpu_.properties().architecture, source);
    }
    /// The images that were loaded: "matrix: sm_90, launch: compute_80 (compiled by the driver)".
    std::string images() const;
    template <class... Arguments>
    [[nodiscard]] gpu::Done launch(gpu::Kernel kernel, gpu::Shape shape, Arguments... arguments) {
        void* pointers[sizeof...(arguments) + 1] = {&arguments..., nullptr};
        return gpu_.launch(kernel, shape, pointers, stream_);
    }
    /// Runs `work`, which queues on stream(), between two events and waits for it.
    [[nodiscard]] gpu::Done timed(const std::function<gpu::Done()>& work, double& ms);
    [[nodiscard]] gpu::Done wait() { return gpu_.synchronize(stream_); }

    /// Where kernels report; cleared before a launch, read after it.
    gpu::DevicePointer result() const { return result_.at(); }
    [[nodiscard]] gpu::Done clear_result();
    [[nodiscard]] gpu::Done read_result(const kernels::CheckResult*& result);
    /// The same after `work`, and adds what was found to `into`.
    [[nodiscard]] gpu::Done check(const std::function<gpu::Done()>& work, ExperimentResult& into,
                                  std::uint64_t& wrong, class UnitCoverage& units);
    /// Puts a struct of parameters where kernels can read it, in order with what is queued.
    template <class T>
    [[nodiscard]] gpu::Done put(const T& parameters, gpu::DevicePointer& at) {
        static_assert(sizeof(T) <= kParameterBytes);
        *parameters_host_.as<T>() = parameters;
        at = parameters_.at();
        return gpu_.copy(gpu::Direction::to_device, at, parameters_host_.at(), sizeof(T), stream_);
    }

  private:
    static constexpr std::size_t kParameterBytes = 4096;
    gpu::Gpu& gpu_;
    const Settings& settings_;
    FindImage find_image_;
    struct Loaded {
        kernels::Image image;
        gpu::Module module;
    };
    std::map<std::string, Loaded> loaded_;
    gpu::Stream stream_;
    gpu::Event start_, stop_;
    Clock::time_point deadline_ = Clock::time_point::max();
    DeviceMemory result_{gpu_}, parameters_{gpu_};
    PinnedMemory result_host_{gpu_}, parameters_host_{gpu_};
};

/// Median, least and greatest of the samples.
Quantity quantity(std::string name, std::string unit, std::vector<double> samples);

/// A result with its names, seed, parameters and injected fault filled in.
ExperimentResult begin_result(const Bench& bench, Kind kind, std::string variant, std::string parameters);

/// Adds what one launch found. May be called for several launches: counts add up, the first records stay.
void add_findings(const kernels::CheckResult& found, ExperimentResult& result);
/// The same for what arrived at the host: compares `words` with base + index * step.
void add_received(const std::uint64_t* got, std::uint64_t words, std::uint64_t base, std::uint64_t step,
                  ExperimentResult& result);

/// Which units did something, over several launches.
class UnitCoverage {
  public:
    void add(const kernels::CheckResult& found);
    void state(const Bench& bench, ExperimentResult& result) const;

  private:
    std::vector<bool> worked_ = std::vector<bool>(kernels::kUnits);
};

/// "sticky" or "transient": after a mismatch the same again.
void state_repeat(bool wrong_again, ExperimentResult& result);
/// `result` as one that ended with a failed call, or of which time took the rest.
ExperimentResult& failed(ExperimentResult& result, const gpu::Failure& failure);
ExperimentResult& out_of_time(ExperimentResult& result);
/// A word with all bits toggling from one to the next.
std::uint64_t odd_step(std::uint64_t seed);

}  // namespace gpucheck::experiments
