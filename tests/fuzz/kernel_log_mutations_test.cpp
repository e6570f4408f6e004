// The bounded, deterministic share of fuzzing that runs with every build: the catalogue's own lines, and the
// shared logs where they are present, mutated by a fixed generator.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "checks/json/json.h"
#include "tests/fuzz/kernel_log_check.h"
#include "tests/log/wrap.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> corpus() {
    std::vector<std::string> logs;
    const auto parsed = parse_json(content_of(GPUCHECK_SOURCE_DIR "/tests/log/cases.json"));
    std::size_t n = 0;
    for (const Json& entry : std::get<Json>(parsed).at("cases")) {
        logs.push_back(
            wrap(containers()[n++ % containers().size()], entry.at("fires").get<std::vector<std::string>>()));
    }
    const std::filesystem::path field(GPUCHECK_SHARED_DIR "/field");
    if (std::filesystem::exists(field)) {
        for (const auto& file : std::filesystem::directory_iterator(field)) {
            const std::string name = file.path().filename().string();
            if (name.starts_with("dmesg") || name.starts_with("pstore"))
                logs.push_back(content_of(file.path()).substr(0, 8192));
        }
    }
    return logs;
}

void mutate(std::string& log, std::mt19937& random, const std::vector<std::string>& others) {
    constexpr std::string_view kBytes = "\n\r\x1b[]<>(){}:;,.\"\\x0 \xff\x80";
    for (unsigned n = 1 + static_cast<unsigned>(random() % 6); n > 0 && !log.empty(); --n) {
        const std::size_t at = random() % log.size();
        switch (random() % 7) {
            case 0:
                log[at] = static_cast<char>(random());
                break;
            case 1:
                log[at] = kBytes[random() % kBytes.size()];
                break;
            case 2:
                log.erase(at, 1 + random() % 20);
                break;
            case 3:
                log.insert(at, log.substr(at / 2, random() % 60));
                break;
            case 4:
                log.resize(at);
                break;
            case 5:
                log.insert(at, std::to_string(random()) + std::to_string(random()));
                break;
            default:
                log.insert(at, others[random() % others.size()]);
                break;
        }
    }
}

TEST(KernelLogMutations, HoldTheInvariants) {
    const std::vector<std::string> logs = corpus();
    std::mt19937 random(20250114);
    for (const std::string& log : logs)
        check_any_log(reinterpret_cast<const std::uint8_t*>(log.data()), log.size());
    for (int round = 0; round < 6000; ++round) {
        std::string log = logs[random() % logs.size()];
        mutate(log, random, logs);
        if (log.size() > 65536) log.resize(65536);
        check_any_log(reinterpret_cast<const std::uint8_t*>(log.data()), log.size());
    }
    SUCCEED() << "check_any_log aborts when an invariant breaks";
}

}  // namespace
}  // namespace gpucheck::host
