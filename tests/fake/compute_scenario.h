// Writes the "compute" part of a scenario.json for a test, and points the fake libraries at it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/images.h"
#include "tests/fake/target.h"

namespace gpucheck::test {

class ComputeScenario {
  public:
    ComputeScenario() {
        std::string path = (std::filesystem::temp_directory_path() / "gpucheck-scenario-XXXXXX").string();
        const int descriptor = ::mkstemp(path.data());
        if (descriptor >= 0) ::close(descriptor);
        path_ = path;
        ::setenv("GPUCHECK_FAKE_SCENARIO", path_.c_str(), 1);
    }
    ~ComputeScenario() {
        ::unsetenv("GPUCHECK_FAKE_SCENARIO");
        std::filesystem::remove(path_);
    }
    ComputeScenario(const ComputeScenario&) = delete;
    ComputeScenario& operator=(const ComputeScenario&) = delete;

    ComputeScenario& gpu(const std::string& bdf, const std::string& architecture, unsigned units = 2,
                         std::uint64_t memory_bytes = 8U << 20) {
        compute_["gpus"].push_back({{"bdf", bdf},
                                    {"vendor", architecture.starts_with("gfx") ? "amd" : "nvidia"},
                                    {"architecture", architecture},
                                    {"units", units},
                                    {"memory_bytes", memory_bytes}});
        return *this;
    }
    /// One more member of the GPU that was added last.
    ComputeScenario& with(const std::string& member, nlohmann::json value) {
        compute_["gpus"].back()[member] = std::move(value);
        return *this;
    }
    ComputeScenario& fault(nlohmann::json fault) {
        compute_["faults"].push_back(std::move(fault));
        return *this;
    }
    /// Before the library is opened in this process or a child.
    void write() const {
        std::ofstream(path_) << nlohmann::json{{"gpus", nlohmann::json::array()}, {"compute", compute_}};
    }

  private:
    std::string path_;
    nlohmann::json compute_ = {{"gpus", nlohmann::json::array()}, {"faults", nlohmann::json::array()}};
};

/// Images for fake GPUs, which look kernels up by name and do not read them.
inline Fact<kernels::Image> fake_image(Vendor, std::string_view architecture, std::string_view) {
    kernels::Image image;
    image.bytes = "kernels are looked up by name";
    image.architecture = std::string(architecture);
    image.compiled_on_arrival = false;
    image.target = fake::target_of(architecture);
    return {image, "test"};
}

}  // namespace gpucheck::test
