// Reads scenario.json and the board files that it names; see README.md.
#include "scenario.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fake {
namespace {

[[noreturn]] void refuse(const std::string& why) {
    std::fprintf(stderr, "fake driver: %s\n", why.c_str());
    _exit(99);
}

std::string own_folder() {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
        refuse("where am I?");
    return std::filesystem::canonical(info.dli_fname).parent_path();
}

Json load(const std::string& path) {
    std::ifstream file(path);
    Json json = Json::parse(file, nullptr, false);
    if (!file || json.is_discarded() || !json.is_object()) refuse(path + " is no JSON object");
    return json;
}

Gpu gpu_from(const Json& json, unsigned index) {
    Gpu gpu;
    gpu.index = index;
    gpu.address = json.at("at");
    gpu.values = json.value("values", Json::object());
    gpu.hidden = json.value("hidden", false);
    gpu.lost_after = json.value("lost_after", 0U);
    gpu.board = load(own_folder() + "/boards/" + json.at("board").get<std::string>() + ".json").at("values");
    return gpu;
}

Scenario read_scenario() {
    const char* named = std::getenv("GPUCHECK_FAKE_SCENARIO");
    const std::string path = named != nullptr ? named : own_folder() + "/scenario.json";
    try {
        const Json json = load(path);
        Scenario scenario;
        scenario.folder = std::filesystem::path(path).parent_path();
        scenario.values = json.value("values", Json::object());
        for (const Json& gpu : json.at("gpus"))
            scenario.gpus.push_back(gpu_from(gpu, static_cast<unsigned>(scenario.gpus.size())));
        for (const Json& address : json.value("excluded", Json::array()))
            scenario.excluded.push_back(address);
        for (const Json& fault : json.value("faults", Json::array())) {
            scenario.faults.push_back({fault.at("call"), fault.value("gpu", ""), fault.at("do"),
                                       fault.value("code", ""), fault.value("after", 0U), 0});
        }
        return scenario;
    } catch (const std::exception& error) {
        refuse(path + ": " + error.what());
    }
}

const Json* among(const Json& values, const std::string& call, const std::string& arguments) {
    auto found = values.find(call + arguments);
    if (found == values.end()) found = values.find(call);
    return found == values.end() ? nullptr : &*found;
}

}  // namespace

Gpu* Scenario::at(const std::string& address) {
    for (Gpu& gpu : gpus) {
        if (gpu.address == address) return &gpu;
    }
    return nullptr;
}

Scenario& scenario() {
    static Scenario loaded = read_scenario();
    return loaded;
}

const Json* find_value(const Gpu* gpu, const std::string& call, const std::string& arguments) {
    const Json* found = gpu != nullptr ? among(gpu->values, call, arguments) : nullptr;
    if (found == nullptr) found = among(scenario().values, call, arguments);
    if (found == nullptr && gpu != nullptr) found = among(gpu->board, call, arguments);
    return found;
}

}  // namespace fake
