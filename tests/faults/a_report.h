// A report of a sick AMD machine, as gpucheck writes it.
#pragma once

#include "checks/json/json.h"

namespace gpucheck::faults {

inline Json a_finding(const char* code, const char* verdict, const char* scope, const char* subject) {
    return {{"code", code},       {"check", "a-check"}, {"verdict", verdict}, {"scope", scope},
            {"subject", subject}, {"expected", "8"},    {"observed", "7"},    {"source", "PCI"},
            {"message", "Title"}, {"action", "none"},   {"remedy", nullptr},  {"count", 1},
            {"first", nullptr},   {"last", nullptr}};
}

inline Json a_report() {
    return {
        {"schema_version", "1.0"},
        {"report_id", "0199f3a0-0000-7000-8000-000000000001"},
        {"created", "2026-11-30T10:00:00Z"},
        {"boot_id", "11111111-2222-4333-8444-555555555555"},
        {"simulated", false},
        {"injected", nullptr},
        {"verdict", "fail"},
        {"instance", {{"provider", "digitalocean"}, {"type", "gpu-mi300x8-1536gb"}}},
        {"host", {{"hostname", "gpu-node-01"}}},
        {"gpus",
         Json::array(
             {Json{{"bdf", "0000:83:00.0"}, {"vendor", "amd"}, {"board_name", "MI300X"}, {"serial", "SN1"}},
              Json{{"bdf", "0000:84:00.0"},
                   {"vendor", "amd"},
                   {"board_name", "MI300X"},
                   {"serial", nullptr}}})},
        {"findings", Json::array()}};
}

inline Json with(Json report, std::initializer_list<Json> findings) {
    for (const Json& finding : findings) report["findings"].push_back(finding);
    return report;
}

}  // namespace gpucheck::faults
