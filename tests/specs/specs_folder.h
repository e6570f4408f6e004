// A temporary folder for --specs, and a PCI function with given ids.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <variant>

#include "checks/model/pcie.h"
#include "checks/specs/boards.h"

namespace gpucheck {

class SpecsFolder {
  public:
    SpecsFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "gpucheck-specs-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    ~SpecsFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    SpecsFolder(const SpecsFolder&) = delete;
    SpecsFolder& operator=(const SpecsFolder&) = delete;

    SpecsFolder& file(const std::string& name, std::string_view content) {
        std::ofstream(folder_ / name, std::ios::binary) << content;
        return *this;
    }
    std::filesystem::path at(const std::string& name) const { return folder_ / name; }
    std::string path() const { return folder_.string(); }

  private:
    std::filesystem::path folder_;
};

inline PciFunction function_with(std::uint16_t vendor, std::uint16_t device) {
    PciFunction function;
    function.vendor = Fact<std::uint16_t>(vendor, "test");
    function.device = Fact<std::uint16_t>(device, "test");
    function.sub_vendor = Missing{"test", "EACCES"};
    function.sub_device = Missing{"test", "EACCES"};
    return function;
}

inline PciFunction function_with(std::uint16_t vendor, std::uint16_t device, std::uint16_t sub_vendor,
                                 std::uint16_t sub_device) {
    PciFunction function = function_with(vendor, device);
    function.sub_vendor = Fact<std::uint16_t>(sub_vendor, "test");
    function.sub_device = Fact<std::uint16_t>(sub_device, "test");
    return function;
}

/// The table inside the binary; a load error aborts the test binary, which is what it deserves.
inline const BoardTable& embedded_boards() {
    static const auto table = BoardTable::load();
    if (const auto* error = std::get_if<std::string>(&table)) {
        ::fprintf(stderr, "%s\n", error->c_str());
        ::abort();
    }
    return std::get<BoardTable>(table);
}

/// The key of the matched board, or why there is none.
inline std::string matched(const BoardTable& boards, const PciFunction& function) {
    const Fact<Board> board = boards.match(function);
    return board.known() ? board->key : "missing: " + board.why();
}

}  // namespace gpucheck
