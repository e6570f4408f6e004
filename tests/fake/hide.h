// Takes symbols away from a copy of a fake library: an older or a broken driver, without a library for each.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpucheck::test {

/// The dynamic linker finds a name by its hash and then compares it: a name that differs is not there. Its
/// first place in the file is the table of dynamic names; the fake's own constants come later.
inline void hide_symbols(const std::filesystem::path& library, const std::vector<std::string>& symbols) {
    std::string bytes(std::filesystem::file_size(library), '\0');
    std::ifstream(library, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    for (const std::string& symbol : symbols) {
        const std::size_t at = bytes.find('\0' + symbol + '\0');
        if (at == std::string::npos) std::abort();
        bytes[at + 1] = '-';
    }
    std::filesystem::remove(library);
    std::ofstream(library, std::ios::binary) << bytes;
}

}  // namespace gpucheck::test
