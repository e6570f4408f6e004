// Reports as a machine would send them, to be spoiled one member at a time.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fleet/model/read.h"

namespace gpucheck::fleet {

using Json = nlohmann::ordered_json;

inline std::string sample_id(int number) {
    char text[64];
    std::snprintf(text, sizeof text, "01a22e6d-f626-713c-92c0-%012x", static_cast<unsigned>(number));
    return text;
}

inline Json sample_gpu(int number, double speed) {
    char bdf[32];
    std::snprintf(bdf, sizeof bdf, "0000:%02x:00.0", 16 + number);
    return {{"bdf", bdf},
            {"vendor", "nvidia"},
            {"board_key", "h100-sxm-80gb"},
            {"serial", "16" + std::to_string(1000 + number)},
            {"uuid", "GPU-" + std::to_string(number)},
            {"vbios_version", "96.00.99.00.01"},
            {"verdict", "pass"},
            {"measurements",
             {{"memory_read_gb_s", speed}, {"bf16_tflops", 742.53}, {"capacity_bytes", 85520809984}}}};
}

inline Json sample_report(int number, double speed = 3021.75) {
    Json report = {{"schema_version", "1.0"},
                   {"report_id", sample_id(number)},
                   {"created", "2026-11-30T10:00:00Z"},
                   {"boot_id", "00000000-0000-4000-8000-000000000001"},
                   {"tool", {{"name", "gpucheck"}, {"version", "0.1.0"}}},
                   {"profile", "acceptance"},
                   {"duration_s", 61.5},
                   {"simulated", false},
                   {"injected", nullptr},
                   {"machine", nullptr},
                   {"verdict", "pass"},
                   {"gpu_count", {{"expected", 2}, {"pci", 2}, {"bound", 2}}},
                   {"instance",
                    {{"provider", "aws"},
                     {"type", "p5.48xlarge"},
                     {"id", "i-" + std::to_string(number)},
                     {"region", "us-east-1"},
                     {"zone", nullptr},
                     {"price", {{"instance_usd", 20.72}}}}},
                   {"host",
                    {{"hostname", "node-" + std::to_string(number)},
                     {"kernel", "6.8.0"},
                     {"os", "Ubuntu 24.04"},
                     {"drivers", {{"nvidia", "570.133.20"}, {"amdgpu", nullptr}}}}},
                   {"checks",
                    {{{"id", "gpu.count"}, {"verdict", "pass"}, {"required", true}},
                     {{"id", "nvidia.fabric"}, {"verdict", "unknown"}, {"required", false}},
                     {{"id", "run"}, {"verdict", "pass"}, {"required", true}},
                     {{"id", "driver.loaded"}, {"verdict", "pass"}, {"required", true}},
                     {{"id", "driver.bound"}, {"verdict", "pass"}, {"required", true}},
                     {{"id", "nodes.access"}, {"verdict", "not_applicable"}, {"required", true}},
                     {{"id", "pcie.width"}, {"verdict", "pass"}, {"required", true}}}},
                   {"findings", Json::array()},
                   {"cost",
                    {{{"model", "llama"},
                      {"precision", "fp8"},
                      {"concurrency", 64},
                      {"tokens_per_s", 1234.5},
                      {"usd_per_m_output", 0.7}}}}};
    report["gpus"] = Json::array({sample_gpu(0, speed), sample_gpu(1, speed)});
    return report;
}

inline Json sample_finding(const std::string& verdict) {
    return {{"code", "pcie.link.narrow"}, {"check", "pcie.width"},
            {"verdict", verdict},         {"scope", "host"},
            {"subject", "0000:10:00.0"},  {"action", "drain_and_replace"}};
}

/// What is wrong with a document; empty: nothing.
inline std::string error_of(const std::string& text) {
    Fleet fleet;
    return add_document(fleet, text, {}).value_or("");
}

/// A folder of its own that goes with the object.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "fleet-read-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }
    void write(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary) << content;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace gpucheck::fleet
