// The healthy example machines and the real dumps that lie beside a checkout; tests skip where they are
// absent.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "agent/host/sysroot.h"
#include "tests/host/temp_machine.h"
#include "tests/source_dir.h"

namespace gpucheck::host {

inline std::optional<Sysroot> example_machine(const std::string& name) {
    const std::string folder = std::string(GPUCHECK_SHARED_DIR) + "/examples/" + name;
    if (!std::filesystem::exists(folder)) return std::nullopt;
    return std::get<Sysroot>(Sysroot::recorded(folder));
}

/// A file of GPUCHECK_SHARED_DIR/field; nullopt when absent.
inline std::optional<std::string> field_file(const std::string& name) {
    std::ifstream in(std::string(GPUCHECK_SHARED_DIR) + "/field/" + name, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Unpacks a flattened dump, "### path" before each file, below `folder`; only paths that begin with `only`.
inline void unpack(TempMachine& machine, const std::string& dump, const std::string& folder,
                   std::string_view only = "") {
    constexpr std::string_view kMark = "### ";
    std::string path, content;
    const auto flush = [&] {
        while (content.ends_with("\n\n")) content.pop_back();
        if (!path.empty() && path.starts_with(only)) machine.file(folder + "/" + path, content);
        content.clear();
    };
    for (const std::string_view line : lines_of(dump)) {
        if (line.starts_with(kMark)) {
            flush();
            path = line.substr(kMark.size());
        } else {
            content.append(line).append("\n");
        }
    }
    flush();
}

}  // namespace gpucheck::host

#define GPUCHECK_EXAMPLE_OR_SKIP(variable, name)                   \
    const auto variable = ::gpucheck::host::example_machine(name); \
    if (!variable) GTEST_SKIP() << "no example machine " << (name)
#define GPUCHECK_FIELD_OR_SKIP(variable, name)                \
    const auto variable = ::gpucheck::host::field_file(name); \
    if (!variable) GTEST_SKIP() << "no field dump " << (name)
