// The reference tables beside the checkout, and the boards and models they name.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "checks/cost/data/tables.h"
#include "tests/source_dir.h"

namespace gpucheck::cost {

using CsvRow = std::map<std::string, std::string>;

/// Empty when the file is not there.
inline std::vector<CsvRow> read_csv(const std::string& name) {
    std::ifstream file(std::string(GPUCHECK_SHARED_DIR) + "/data/" + name);
    const auto cells_of = [](const std::string& line) {
        std::vector<std::string> cells(1);
        bool quoted = false;
        for (const char c : line) {
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.emplace_back();
            } else if (c != '\r') {
                cells.back() += c;
            }
        }
        return cells;
    };
    std::vector<CsvRow> rows;
    std::string line;
    if (!std::getline(file, line)) return rows;
    const std::vector<std::string> header = cells_of(line);
    while (std::getline(file, line)) {
        const std::vector<std::string> cells = cells_of(line);
        CsvRow row;
        for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) row[header[i]] = cells[i];
        rows.push_back(std::move(row));
    }
    return rows;
}

inline const Tables& tables() {
    static const Tables kTables = std::get<Tables>(Tables::load());
    return kTables;
}

/// By the name that the reference gives the board.
inline MeasuredMachine reference_machine(const std::string& name) {
    static const std::map<std::string, std::string> kKeys{{"A100-SXM-80", "a100-sxm-80gb"},
                                                          {"H100-SXM", "h100-sxm-80gb"},
                                                          {"H200-SXM", "h200-sxm-141gb"},
                                                          {"B200-SXM", "b200-sxm-180gb"},
                                                          {"B300-SXM", "b300-sxm-270gb"},
                                                          {"GB200", "gb200-186gb"},
                                                          {"L40S", "l40s"},
                                                          {"RTX-PRO-6000-SE", "rtx-pro-6000-server"},
                                                          {"MI300X", "mi300x"},
                                                          {"MI325X", "mi325x"},
                                                          {"MI350X", "mi350x"},
                                                          {"MI355X", "mi355x"}};
    MeasuredMachine machine = tables().rates_of(kKeys.at(name))->machine;
    machine.gpus = 8;
    return machine;
}

inline const LlmModel& reference_model(const std::string& name) {
    static const std::map<std::string, std::string> kKeys{
        {"llama2-7b", "llama-2-7b"},       {"llama2-13b", "llama-2-13b"},
        {"llama2-70b", "llama-2-70b"},     {"llama3.1-8b", "llama-3.1-8b"},
        {"llama3.1-70b", "llama-3.1-70b"}, {"llama3.1-405b", "llama-3.1-405b"}};
    const auto known = kKeys.find(name);
    return *tables().model(known == kKeys.end() ? name : known->second);
}

}  // namespace gpucheck::cost
