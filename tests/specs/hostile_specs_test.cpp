// --specs folders by people in a hurry and people with bad intentions: a clear error, never a crash, a hang
// or a default.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "checks/specs/boards.h"
#include "checks/specs/instances.h"
#include "tests/source_dir.h"
#include "tests/specs/specs_folder.h"

namespace gpucheck {
namespace {

std::string board_file(const std::string& rows) {
    return R"({"schema_version": 1, "boards": [)" + rows + "]}";
}

std::string board_row(const std::string& extra, const std::string& key = "x1",
                      const std::string& device = "1111") {
    return R"({"key": ")" + key + R"(", "name": "X", "vendor": "nvidia", "form": "pcie", "arch": "sm_90",
        "ids": [{"vendor": "10de", "device": ")" +
           device + R"(", "function": "pf", "source": "test"}])" + (extra.empty() ? "" : ", ") + extra + "}";
}

std::string board_error(const std::string& content) {
    SpecsFolder folder;
    folder.file("gpus.json", content);
    const auto loaded = BoardTable::load(folder.path());
    const auto* error = std::get_if<std::string>(&loaded);
    return error != nullptr ? *error : "loaded";
}

std::string instance_error(const std::string& rows) {
    SpecsFolder folder;
    folder.file("instances.json", R"({"schema_version": 1, "rows": [)" + rows + "]}");
    const auto loaded = InstanceTable::load(folder.path(), &embedded_boards());
    const auto* error = std::get_if<std::string>(&loaded);
    return error != nullptr ? *error : "loaded";
}

void expect_error(const std::string& error, const std::string& part) {
    EXPECT_NE(error.find(part), std::string::npos) << "'" << error << "' lacks '" << part << "'";
}

TEST(HostileSpecs, AGoodOverrideReplacesTheWholeFile) {
    SpecsFolder folder;
    folder.file("gpus.json", board_file(board_row("")));
    const auto loaded = BoardTable::load(folder.path());
    ASSERT_TRUE(std::holds_alternative<BoardTable>(loaded)) << std::get<std::string>(loaded);
    EXPECT_EQ(std::get<BoardTable>(loaded).rows().size(), 1U);
    EXPECT_EQ(matched(std::get<BoardTable>(loaded), function_with(0x10de, 0x1111)), "x1");
    // The other file is not there: the one inside the binary serves.
    const auto instances = InstanceTable::load(folder.path(), &std::get<BoardTable>(loaded));
    ASSERT_TRUE(std::holds_alternative<InstanceTable>(instances)) << std::get<std::string>(instances);
    EXPECT_TRUE(std::get<InstanceTable>(instances).find("aws", "p5.48xlarge").has_value());
}

TEST(HostileSpecs, AnEmptyFolderFallsBackToTheTableInside) {
    SpecsFolder folder;
    const auto loaded = BoardTable::load(folder.path());
    ASSERT_TRUE(std::holds_alternative<BoardTable>(loaded));
    EXPECT_EQ(std::get<BoardTable>(loaded).rows().size(), embedded_boards().rows().size());
}

TEST(HostileSpecs, FoldersAndFilesThatAreNone) {
    const auto absent = BoardTable::load("/nonexistent/specs");
    expect_error(std::get<std::string>(absent), "--specs /nonexistent/specs: No such file or directory");
    SpecsFolder folder;
    folder.file("plain", "x");
    expect_error(std::get<std::string>(BoardTable::load(folder.at("plain").string())), "not a folder");
    std::filesystem::create_directory(folder.at("gpus.json"));
    expect_error(std::get<std::string>(BoardTable::load(folder.path())), "gpus.json: not a regular file");
    std::filesystem::remove(folder.at("gpus.json"));
    ASSERT_EQ(::mkfifo(folder.at("gpus.json").c_str(), 0600), 0);
    expect_error(std::get<std::string>(BoardTable::load(folder.path())), "gpus.json: not a regular file");
}

TEST(HostileSpecs, HugeDeepEmptyAndBinaryFiles) {
    expect_error(board_error(std::string(5 << 20, ' ')), "larger than 4 MiB");
    expect_error(board_error(std::string(100000, '[')), "nested deeper than 16 levels");
    expect_error(board_error(std::string(100000, '[') + std::string(100000, ']')),
                 "nested deeper than 16 levels");
    expect_error(board_error(""), "gpus.json: ");
    expect_error(board_error(std::string("\0\xff\x80", 3)), "gpus.json: ");
    expect_error(board_error("{\"schema_version\": 1, \"boards\": [\"\xff\"]}"), "gpus.json: ");
    expect_error(board_error(board_file(board_row("")) + "x"), "gpus.json: line 2");
}

TEST(HostileSpecs, WrongShapesNameTheRow) {
    expect_error(board_error("[]"), "gpus.json: the file is not an object");
    expect_error(board_error("{}"), "schema_version is not 1");
    expect_error(board_error(R"({"schema_version": 2, "boards": []})"), "schema_version is not 1");
    expect_error(board_error(R"({"schema_version": 1, "boards": {}})"), "boards is not an array");
    expect_error(board_error(board_file("")), "boards are missing");
    expect_error(board_error(board_file("7")), "gpus.json: row 1: the row is not an object");
    expect_error(board_error(board_file("{}")), "row 1: key is missing");
    expect_error(board_error(board_file(board_row("") + "," + board_row("\"memory\": []", "x2", "2222"))),
                 "gpus.json: row 2 (x2): memory is not an object");
    expect_error(board_error(board_file(board_row("\"unheard\": 1"))),
                 "row 1 (x1): unknown field 'unheard' in the row");
    expect_error(board_error(board_file(board_row(R"("power": {"tdp": 7, "source": "s"})"))),
                 "unknown field 'tdp' in power");
    expect_error(board_error(board_file(board_row(R"("peaks": {"fp7_tflops": 7, "source": "s"})"))),
                 "unknown field 'fp7_tflops' in peaks");
}

TEST(HostileSpecs, NumbersOutOfRange) {
    const std::vector<std::string> bad{
        R"("power": {"tdp_w": -700, "source": "s"})",
        R"("power": {"tdp_w": 0, "source": "s"})",
        R"("power": {"tdp_w": 1e300, "source": "s"})",
        R"("power": {"tdp_w": "700", "source": "s"})",
        R"("power": {"tdp_w": [700, 400], "source": "s"})",
        R"("power": {"tdp_w": [1, 2, 3], "source": "s"})",
        R"("compute": {"units": -1, "source": "s"})",
        R"("compute": {"units": 1.5, "source": "s"})",
        R"("compute": {"units": 99999, "source": "s"})",
        R"("compute": {"source": "s"})",
        R"("memory": {"shown_bytes": -1, "shown_source": "s"})",
        R"("memory": {"shown_bytes": 18446744073709551615, "shown_source": "s"})",
        R"("memory": {"shown_bytes": 18446744073709551616, "shown_source": "s"})",
        R"("pcie": {"generation": 9, "lanes": 16, "source": "s"})",
        R"("pcie": {"generation": 5, "lanes": 63, "source": "s"})",
        R"("pcie": {"generation": 5, "lanes": 3, "source": "s"})",
        R"("narrow_widths_by_design": [{"lanes": 7, "why": "w", "source": "s"}])",
        R"("functions_per_board": 0)",
        R"("nvswitch": {"needed": "yes", "source": "s"})",
        R"("unverified": [1])",
        R"("driver": {"min": "new", "source": "s"})",
        R"("kernel": {"min": 6.8, "source": "s"})",
    };
    for (const std::string& extra : bad) {
        const std::string error = board_error(board_file(board_row(extra)));
        EXPECT_NE(error.find("gpus.json: row 1 (x1): "), std::string::npos) << extra << " gave: " << error;
    }
}

TEST(HostileSpecs, AFigureWithoutASourceIsRefused) {
    const std::vector<std::string> bad{R"("power": {"tdp_w": 700})",
                                       R"("memory": {"nominal_gb": 80})",
                                       R"("memory": {"shown_bytes": 80})",
                                       R"("peaks": {"fp8_tflops": 700})",
                                       R"("pcie": {"generation": 5, "lanes": 16})",
                                       R"("kernel": {"min": "6.5"})",
                                       R"("link": {"name": "NVLink4"})",
                                       R"("memory": {"shown_bytes": 80, "source": "s"})",
                                       R"("power": {"tdp_w": 700, "source": ""})"};
    for (const std::string& extra : bad) {
        expect_error(board_error(board_file(board_row(extra))), "source is ");
    }
}

TEST(HostileSpecs, AFloorWithAUnitErrorIsRefused) {
    const std::string memory =
        R"("memory": {"bandwidth_gb_s": 4800, "source": "s"}, "floors": [{"metric": "memory_gb_s", )";
    const std::string rest = R"(, "test": "t", "source": "s"}])";
    EXPECT_EQ(board_error(board_file(board_row(memory + R"("value": 2333)" + rest))), "loaded");
    // DCGM's table has 2,333 MB/s for this board: a floor that nothing can miss.
    expect_error(board_error(board_file(board_row(memory + R"("value": 2.333)" + rest))),
                 "outside 40 to 100 % of its peak");
    expect_error(board_error(board_file(board_row(memory + R"("value": 4801)" + rest))),
                 "outside 40 to 100 % of its peak");
    expect_error(board_error(board_file(board_row(memory + R"("value": -1)" + rest))),
                 "value is not a number");
    expect_error(
        board_error(board_file(board_row(R"("floors": [{"metric": "fp8_tflops", "value": 5)" + rest))),
        "has no peak");
    expect_error(board_error(board_file(board_row(R"("floors": [{"metric": "speed", "value": 5)" + rest))),
                 "has no peak");
    expect_error(
        board_error(board_file(board_row(memory + R"("value": 2333, "accept_fraction": 0.01)" + rest))),
        "accept_fraction is not a number");
}

TEST(HostileSpecs, DuplicatesAreRefused) {
    expect_error(board_error(board_file(board_row("") + "," + board_row("", "x1", "2222"))),
                 "row 2 (x1): this key stands twice");
    expect_error(board_error(board_file(board_row("") + "," + board_row("", "x2", "1111"))),
                 "row 2 (x2): id 10de:1111 stands twice");
    expect_error(board_error(board_file(board_row(R"("note": "a", "note": "b")"))),
                 "member 'note' appears twice");
    expect_error(board_error(R"({"schema_version": 1, "schema_version": 1, "boards": []})"),
                 "'schema_version' appears twice");
}

TEST(HostileSpecs, BadIds) {
    const auto with_id = [](const std::string& id) {
        return board_file(
            R"({"key": "x1", "name": "X", "vendor": "nvidia", "form": "pcie", "arch": "sm_90", "ids": [)" +
            id + "]}");
    };
    expect_error(board_error(with_id("")), "ids are missing");
    expect_error(
        board_error(with_id(R"({"vendor": "10DE", "device": "1111", "function": "pf", "source": "s"})")),
        "'10DE' is not an id");
    expect_error(
        board_error(with_id(R"({"vendor": "10de", "device": "111", "function": "pf", "source": "s"})")),
        "'111' is not an id");
    expect_error(
        board_error(with_id(R"({"vendor": "10de", "device": "+111", "function": "pf", "source": "s"})")),
        "'+111' is not an id");
    expect_error(
        board_error(with_id(R"({"vendor": 4318, "device": "1111", "function": "pf", "source": "s"})")),
        "vendor is not a text");
    expect_error(
        board_error(with_id(R"({"vendor": "10de", "device": "1111", "function": "xf", "source": "s"})")),
        "neither pf nor vf");
    expect_error(
        board_error(with_id(
            R"({"vendor": "10de", "device": "1111", "subsystem": "10de", "function": "pf", "source": "s"})")),
        "subsystem is not like 1002:74a1");
}

TEST(HostileSpecs, Instances) {
    const std::string good =
        R"({"provider": "aws", "type": "x1.large", "gpu_count": 2, "board": "t4", "source": "s", "as_of": "2026-01-31"})";
    EXPECT_EQ(instance_error(good), "loaded");
    expect_error(instance_error(good + "," + good), "row 2 (aws x1.large): this type stands twice");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 2, "board": "t5", "source": "s", "as_of": "2026-01-31"})"),
        "board 't5' has no row in gpus.json");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": -1, "source": "s", "as_of": "2026-01-31"})"),
        "gpu_count");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1025, "source": "s", "as_of": "2026-01-31"})"),
        "gpu_count");
    expect_error(instance_error(R"({"provider": "aws", "type": "a", "source": "s", "as_of": "2026-01-31"})"),
                 "gpu_count is missing");
    expect_error(instance_error(R"({"provider": "aws", "type": "a", "gpu_count": 1, "as_of": "2026-01-31"})"),
                 "source is missing");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "source": "s", "as_of": "yesterday"})"),
        "as_of is not a date");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "source": "s", "as_of": "2026-13-31"})"),
        "as_of is not a date");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "price": 3, "source": "s", "as_of": "2026-01-31"})"),
        "unknown field 'price'");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "pcie_width": 5, "source": "s", "as_of": "2026-01-31"})"),
        "pcie_width");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "compute_partition": "XPX", "source": "s", "as_of": "2026-01-31"})"),
        "compute_partition");
    expect_error(
        instance_error(
            R"({"provider": "aws", "type": "a", "gpu_count": 1, "unverified": ["board"], "source": "s", "as_of": "2026-01-31"})"),
        "unverified names something");
    expect_error(instance_error("[]"), "the row is not an object");
}

// Every byte of the real file changed or cut once: whatever happens, it ends in a table or an error.
TEST(HostileSpecs, MutationsOfTheRealFileNeverCrash) {
    std::ifstream file(std::string(GPUCHECK_SOURCE_DIR) + "/checks/specs/gpus.json");
    std::stringstream buffer;
    buffer << file.rdbuf();
    const std::string whole = buffer.str();
    ASSERT_GT(whole.size(), 10000U);
    SpecsFolder folder;
    std::size_t errors = 0, loads = 0;
    std::uint32_t state = 12345;
    const auto next = [&](std::size_t below) {
        state = state * 1664525U + 1013904223U;
        return static_cast<std::size_t>(state >> 8) % below;
    };
    const std::string_view replacements = "\"{}[],:-9e.\\\0n \xff";
    for (int i = 0; i < 150; ++i) {
        std::string changed = whole;
        if (i % 5 == 0) {
            changed.resize(next(whole.size()));
        } else {
            changed[next(whole.size())] = replacements[next(replacements.size())];
        }
        folder.file("gpus.json", changed);
        const auto loaded = BoardTable::load(folder.path());
        if (const auto* error = std::get_if<std::string>(&loaded)) {
            EXPECT_NE(error->find("gpus.json"), std::string::npos) << *error;
            ++errors;
        } else {
            ++loads;
        }
    }
    EXPECT_GT(errors, 20U);
    EXPECT_EQ(errors + loads, 150U);
}

}  // namespace
}  // namespace gpucheck
