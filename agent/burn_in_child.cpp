// What burn-in children do: open the vendor's library, run the experiments, and tell each result at once.
#include "agent/burn_in_child.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "agent/burn_in_lines.h"
#include "agent/burn_in_sampler.h"
#include "kernels/driver/driver.h"
#include "kernels/experiments/run.h"

namespace gpucheck {
namespace {

using experiments::Clock;

experiments::Plan plan_for(const BurnInOptions& options, Vendor vendor, Clock::time_point deadline,
                           child::Reporter& reporter) {
    experiments::Plan plan;
    plan.settings = options.settings;
    plan.deadline = deadline;
    plan.find_image = [find = options.find_image, vendor](const std::string& architecture,
                                                          const std::string& source) {
        return find(vendor, architecture, source);
    };
    plan.stage = [&reporter](std::string_view stage) {
        BurnInLine line;
        line.stage = std::string(stage);
        reporter.line(text_of(line));
    };
    return plan;
}

void tell_missing(const Missing& missing, child::Reporter& reporter) {
    BurnInLine line;
    line.missing = missing;
    reporter.line(text_of(line));
}

/// Two threads tell lines: the experiments and the sampler.
class SharedReporter final : public child::Reporter {
  public:
    explicit SharedReporter(child::Reporter& reporter) : reporter_(reporter) {}
    void step(std::string_view call) override { reporter_.step(call); }
    void line(std::string_view json) override {
        const std::lock_guard lock(mutex_);
        reporter_.line(json);
    }

  private:
    child::Reporter& reporter_;
    std::mutex mutex_;
};

SamplerTarget watched(const BurnInOptions& options, const Device& device) {
    SamplerTarget target;
    target.bdf = device.bdf;
    target.vendor = device.vendor;
    target.libraries = options.libraries;
    target.files = !options.settings.simulated;
    // Of a board that nobody knows, nobody knows that either.
    target.counts_reset = !device.board.known() || device.board->arch == "gfx90a";
    return target;
}

}  // namespace

void test_gpu(const BurnInOptions& options, const Device& device,
              std::chrono::steady_clock::time_point deadline, child::Reporter& unshared) {
    SharedReporter reporter(unshared);
    gpu::neutralise_environment();
    if (device.pci.numa_node.known()) gpu::prefer_numa_node(*device.pci.numa_node);
    auto driver = gpu::open_driver(device.vendor, options.libraries, reporter);
    if (const auto* missing = std::get_if<Missing>(&driver)) return tell_missing(*missing, reporter);
    auto opened = std::get<0>(driver)->open(device.bdf);
    if (const auto* missing = std::get_if<Missing>(&opened)) return tell_missing(*missing, reporter);
    Sampler sampler(watched(options, device), [&reporter](const LoadSamples& load) {
        BurnInLine line;
        line.load = load;
        reporter.line(text_of(line));
    });
    experiments::Plan plan = plan_for(options, device.vendor, deadline, reporter);
    BurnInLine about;
    // What the GPU is, is told before the first experiment: a GPU that hangs later is still known.
    plan.stage = [&, tell = plan.stage, told = false](std::string_view stage) mutable {
        if (!std::exchange(told, true)) reporter.line(text_of(about));
        sampler.enter(stage);
        tell(stage);
    };
    run_all_of(*std::get<0>(opened), plan, about.about.emplace(), [&](const ExperimentResult& result) {
        BurnInLine line;
        line.result = result;
        reporter.line(text_of(line));
    });
    sampler.enter("");
    reporter.line(text_of(about));
}

void test_peers(const BurnInOptions& options, const std::vector<const Device*>& devices,
                std::chrono::steady_clock::time_point deadline, child::Reporter& reporter) {
    gpu::neutralise_environment();
    auto driver = gpu::open_driver(devices.front()->vendor, options.libraries, reporter);
    if (const auto* missing = std::get_if<Missing>(&driver)) return tell_missing(*missing, reporter);
    std::vector<std::unique_ptr<gpu::Gpu>> gpus;
    std::vector<experiments::NamedGpu> named;
    for (const Device* device : devices) {
        auto opened = std::get<0>(driver)->open(device->bdf);
        if (const auto* missing = std::get_if<Missing>(&opened)) return tell_missing(*missing, reporter);
        gpus.push_back(std::move(std::get<0>(opened)));
        named.push_back({device->bdf.str(), gpus.back().get()});
    }
    const experiments::Plan plan = plan_for(options, devices.front()->vendor, deadline, reporter);
    run_peers(named, options.all_peers, plan, [&](std::size_t from, const ExperimentResult& result) {
        BurnInLine line;
        line.result = result;
        line.sender = from;
        reporter.line(text_of(line));
    });
}

}  // namespace gpucheck
