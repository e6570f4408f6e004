// Writes a scenario, reads it, and compares what was read with what a well GPU says.
#include "fake_machine.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "checks/json/model_json.h"
#include "tests/fake/hide.h"

namespace gpucheck {

namespace fs = std::filesystem;

const std::vector<std::string> kAddresses = {"0000:19:00.0", "0000:29:00.0", "0000:39:00.0", "0000:49:00.0",
                                             "0000:59:00.0", "0000:69:00.0", "0000:79:00.0", "0000:89:00.0"};

namespace {

std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Every fact by path: {"missing": ..} or {"value": ..}.
void flatten(const Json& json, const std::string& path, std::map<std::string, Json>& out) {
    if (json.is_object() &&
        (json.contains("missing") || (json.contains("value") && json.contains("source")))) {
        if (json.contains("value") && json["value"].is_array() && !json["value"].empty() &&
            json["value"][0].is_object()) {
            for (std::size_t i = 0; i < json["value"].size(); ++i)
                flatten(json["value"][i], path + "." + std::to_string(i), out);
            return;
        }
        out[path] = json;
        return;
    }
    if (!json.is_object()) return;
    for (const auto& [name, member] : json.items())
        flatten(member, path.empty() ? name : path + "." + name, out);
}

template <class T>
std::map<std::string, Json> facts_of(const T& value) {
    std::map<std::string, Json> facts;
    flatten(to_json(value), "", facts);
    return facts;
}

template <class T>
std::vector<std::string> differing(const T& sick, const T& well, const std::string& except, bool any_source) {
    const auto told = facts_of(sick), expected = facts_of(well);
    std::vector<std::string> found;
    for (const auto& [path, fact] : told) {
        if (fact.contains("missing")) continue;
        const auto other = expected.find(path);
        if (other != expected.end() && other->second == fact) continue;
        if (any_source && other != expected.end() && other->second.contains("value") &&
            other->second["value"] == fact["value"]) {
            continue;
        }
        const std::string source = fact["source"];
        if (!except.empty() && source.starts_with(except)) continue;
        found.push_back(path + " " + fact.dump());
    }
    return found;
}

}  // namespace

FakeMachine::FakeMachine(const std::string& board, std::size_t count) {
    std::string name = (fs::temp_directory_path() / "gpucheck-fake-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    fs::copy_file(fs::path(GPUCHECK_FAKE_DRIVER) / "libnvidia-ml.so.1",
                  fs::path(folder) / "libnvidia-ml.so.1");
    fs::create_directory_symlink(fs::canonical(fs::path(GPUCHECK_FAKE_DRIVER) / "boards"),
                                 fs::path(folder) / "boards");
    scenario = nlohmann::json::parse(bytes_of(fs::path(GPUCHECK_FAKE_DRIVER) / "scenario.json"));
    scenario["gpus"] = nlohmann::json::array();
    scenario["faults"] = nlohmann::json::array();
    for (std::size_t i = 0; i < count; ++i)
        scenario["gpus"].push_back({{"board", board}, {"at", kAddresses[i]}});
}

FakeMachine::~FakeMachine() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

void FakeMachine::value(const std::string& address, const std::string& call, nlohmann::json value) {
    if (address.empty()) {
        scenario["values"][call] = std::move(value);
        return;
    }
    for (auto& gpu : scenario["gpus"]) {
        if (gpu["at"] == address) gpu["values"][call] = value;
    }
}

void FakeMachine::fault(const std::string& call, const std::string& what, const std::string& address,
                        const std::string& code) {
    scenario["faults"].push_back({{"call", call}, {"do", what}, {"gpu", address}, {"code", code}});
}

void FakeMachine::hide(const std::vector<std::string>& symbols) {
    test::hide_symbols(fs::path(folder) / "libnvidia-ml.so.1", symbols);
}

Snapshot FakeMachine::machine() const {
    Snapshot snapshot;
    for (const auto& json : scenario["gpus"]) {
        Device gpu;
        gpu.bdf = *Bdf::parse(json["at"].get<std::string>());
        gpu.vendor = Vendor::nvidia;
        snapshot.gpus.push_back(gpu);
    }
    return snapshot;
}

void FakeMachine::read(Snapshot& snapshot, bool again) {
    const std::string path = folder + "/scenario.json";
    std::ofstream(path) << scenario.dump(1);
    ::setenv("GPUCHECK_FAKE_SCENARIO", path.c_str(), 1);
    vendor::TelemetryOptions options;
    options.libraries.driver_dir = folder;
    options.deadline = deadline;
    vendor::read_nvml(options, snapshot, again);
}

Snapshot FakeMachine::read() {
    Snapshot snapshot = machine();
    read(snapshot, false);
    return snapshot;
}

const NvidiaTelemetry& first_of(const Snapshot& snapshot, const std::string& address) {
    for (const Device& gpu : snapshot.gpus) {
        if (gpu.bdf.str() == address) return gpu.telemetry.first.nvidia;
    }
    std::abort();
}

std::vector<std::string> invented(const NvidiaTelemetry& sick, const NvidiaTelemetry& well,
                                  const std::string& except) {
    return differing(sick, well, except, false);
}

std::vector<std::string> invented(const NvmlSystem& sick, const NvmlSystem& well, const std::string& except) {
    return differing(sick, well, except, false);
}

std::vector<std::string> contradicting(const NvidiaTelemetry& sick, const NvidiaTelemetry& well) {
    std::vector<std::string> paths = differing(sick, well, "", true);
    // The first version of the call counts what the driver reserves as used; nvml.h says so of the second.
    if (sick.identity.memory_used_bytes.source() == "nvmlDeviceGetMemoryInfo") {
        std::erase_if(paths, [](const std::string& path) {
            return path.starts_with("identity.memory_used_bytes");
        });
    }
    return paths;
}

std::chrono::milliseconds short_deadline(FakeMachine& machine) {
    using std::chrono::milliseconds;
    const auto start = std::chrono::steady_clock::now();
    machine.read();
    const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    return std::clamp(took * 8, milliseconds(500), milliseconds(5000));
}

std::size_t known_facts(const NvidiaTelemetry& telemetry) {
    std::size_t known = 0;
    for (const auto& [path, fact] : facts_of(telemetry)) known += fact.contains("missing") ? 0 : 1;
    return known;
}

}  // namespace gpucheck
