// Which row a PCI function gets, and above all when it gets none.
#include "checks/specs/boards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/source_dir.h"
#include "tests/specs/specs_folder.h"

namespace gpucheck {
namespace {

TEST(Boards, PhysicalFunctionsAreFoundWhateverTheirSubsystem) {
    const BoardTable& boards = embedded_boards();
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x2330, 0x10de, 0x16c1)), "h100-sxm-80gb");
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x2330)), "h100-sxm-80gb");
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x74a1, 0x1002, 0x74a1)), "mi300x");
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x75a0, 0x1028, 0x1234)), "mi350x");
    EXPECT_FALSE(boards.match(function_with(0x1002, 0x74a1, 0x1002, 0x74a1))->virtual_function);
}

TEST(Boards, TheSubsystemNamesTheBoardBehindAVirtualFunction) {
    const BoardTable& boards = embedded_boards();
    const Fact<Board> board = boards.match(function_with(0x1002, 0x74b5, 0x1002, 0x74a1));
    ASSERT_TRUE(board.known());
    EXPECT_EQ(board->key, "mi300x");
    EXPECT_TRUE(board->virtual_function);
    EXPECT_NE(board.source().find("1002:74b5 subsystem 1002:74a1"), std::string::npos) << board.source();
    // The near miss: the same VF id over another part.
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x74b5, 0x1002, 0x74a9)), "mi300x-hf");
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x75b3, 0x1002, 0x75a3)), "mi355x");
}

TEST(Boards, AVirtualFunctionOverAnUnknownPartIsNotGuessed) {
    const BoardTable& boards = embedded_boards();
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x74b5, 0x1002, 0x9999)),
              "missing: no row for 1002:74b5 subsystem 1002:9999");
    // A part of another maker, or another virtual function, is no physical part.
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x74b5, 0x1028, 0x74a1)),
              "missing: no row for 1002:74b5 subsystem 1028:74a1");
    EXPECT_EQ(matched(boards, function_with(0x1002, 0x74b5, 0x1002, 0x74b9)),
              "missing: no row for 1002:74b5 subsystem 1002:74b9");
}

TEST(Boards, AVirtualFunctionWithUnreadableSubsystemIsFoundByItsOwnId) {
    const Fact<Board> board = embedded_boards().match(function_with(0x1002, 0x74b9));
    ASSERT_TRUE(board.known());
    EXPECT_EQ(board->key, "mi325x");
    EXPECT_TRUE(board->virtual_function);
    PciFunction half = function_with(0x1002, 0x74b5, 0x1002, 0x74a1);
    half.sub_vendor = Missing{"sysfs", "EIO"};
    EXPECT_EQ(matched(embedded_boards(), half), "mi300x");
}

TEST(Boards, AVirtualFunctionShowsItsOwnMemoryOrNone) {
    const BoardTable& boards = embedded_boards();
    const Board physical = *boards.match(function_with(0x1002, 0x74a1));
    const Board virtual_one = *boards.match(function_with(0x1002, 0x74b5));
    EXPECT_TRUE(physical.memory_bytes.is(206141652992ULL));
    EXPECT_TRUE(virtual_one.memory_bytes.is(205571227648ULL));  // 196048M of 196592M
    EXPECT_FALSE(boards.match(function_with(0x1002, 0x75b0))->memory_bytes.known());
    EXPECT_TRUE(boards.match(function_with(0x1002, 0x75a0))->memory_bytes.known());
}

TEST(Boards, UnknownIdsAreNamedForSendingIn) {
    const BoardTable& boards = embedded_boards();
    const Fact<Board> board = boards.match(function_with(0x10de, 0xabcd, 0x10de, 0x1234));
    ASSERT_FALSE(board.known());
    EXPECT_EQ(board.missing(), (Missing{"gpus.json", "no row for 10de:abcd subsystem 10de:1234"}));
    EXPECT_EQ(matched(boards, function_with(0x10de, 0xabcd)),
              "missing: no row for 10de:abcd subsystem unreadable (EACCES)");
    // The ids of one maker's board under the other maker's name.
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x74a1)),
              "missing: no row for 10de:74a1 subsystem unreadable (EACCES)");
    EXPECT_EQ(matched(boards, function_with(0xffff, 0xffff)),
              "missing: no row for ffff:ffff subsystem unreadable (EACCES)");
}

TEST(Boards, MissingIdsAreNamed) {
    PciFunction function = function_with(0x10de, 0x2330);
    function.vendor = Missing{"sysfs", "EACCES"};
    EXPECT_EQ(matched(embedded_boards(), function), "missing: vendor id unreadable: EACCES");
    function = function_with(0x10de, 0x2330);
    function.device = Missing{"sysfs", "not captured"};
    EXPECT_EQ(matched(embedded_boards(), function), "missing: device id unreadable: not captured");
}

TEST(Boards, NvSwitchesAreNoGpus) {
    EXPECT_EQ(matched(embedded_boards(), function_with(0x10de, 0x22a3)),
              "missing: 10de:22a3 is no GPU: NVSwitch of H100 boxes");
}

TEST(Boards, TheMostSpecificRowWinsAndAnUnreadableSubsystemDoesNotChoose) {
    constexpr std::string_view kTwoBoards = R"({"schema_version": 1, "boards": [
      {"key": "plain", "name": "P", "vendor": "nvidia", "form": "sxm", "arch": "sm_100",
       "ids": [{"vendor": "10de", "device": "2901", "function": "pf", "source": "test"}]},
      {"key": "special", "name": "S", "vendor": "nvidia", "form": "sxm", "arch": "sm_100",
       "ids": [{"vendor": "10de", "device": "2901", "subsystem": "10de:199b", "function": "pf", "source": "test"}]}]})";
    SpecsFolder folder;
    folder.file("gpus.json", kTwoBoards);
    const auto loaded = BoardTable::load(folder.path());
    ASSERT_TRUE(std::holds_alternative<BoardTable>(loaded)) << std::get<std::string>(loaded);
    const BoardTable& boards = std::get<BoardTable>(loaded);
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x2901, 0x10de, 0x199b)), "special");
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x2901, 0x10de, 0x1999)), "plain");
    EXPECT_EQ(matched(boards, function_with(0x10de, 0x2901)),
              "missing: rows for 10de:2901 subsystem unreadable (EACCES) differ by subsystem");
}

TEST(Boards, NearKeysHelpWithASlip) {
    const BoardTable& boards = embedded_boards();
    EXPECT_EQ(boards.near_keys("mi300").front(), "mi300a");
    const std::vector<std::string> near = boards.near_keys("h100");
    EXPECT_EQ(near.size(), 3U);
    EXPECT_TRUE(std::all_of(near.begin(), near.end(),
                            [](const std::string& key) { return key.starts_with("h100-"); }));
    EXPECT_EQ(boards.near_keys("mi3000x").front(), "mi300x");
    EXPECT_TRUE(boards.near_keys("zzzzzzzzzzzzzzzzzzzzzzzzzzzzz").empty());
    EXPECT_LE(boards.near_keys(std::string(1 << 20, 'm')).size(), 3U);
}

// The table inside the binary is read row by row as rows are asked for; the same file in a folder is read
// whole.
TEST(Boards, RowByRowIsTheSameAsWhole) {
    std::stringstream text;
    text << std::ifstream(std::string(GPUCHECK_SOURCE_DIR) + "/checks/specs/gpus.json").rdbuf();
    SpecsFolder folder;
    const auto loaded = BoardTable::load(folder.file("gpus.json", text.str()).path());
    ASSERT_TRUE(std::holds_alternative<BoardTable>(loaded)) << std::get<std::string>(loaded);
    const BoardTable& whole = std::get<BoardTable>(loaded);
    const BoardTable unread = std::get<BoardTable>(BoardTable::load());
    ASSERT_GT(whole.rows().size(), 20U);
    for (std::size_t i = whole.rows().size(); i-- > 0;) {  // an order that is not the file's
        const BoardRow& row = whole.rows()[i];
        const Board* alone = unread.find(row.board.key);
        ASSERT_NE(alone, nullptr) << row.board.key;
        EXPECT_TRUE(*alone == row.board) << row.board.key;
        for (const BoardId& id : row.ids) {
            const BoardTable fresh = std::get<BoardTable>(BoardTable::load());
            const std::uint32_t subsystem = id.subsystem.value_or(0x10001U);
            for (const PciFunction& function :
                 {function_with(id.vendor, id.device),
                  function_with(id.vendor, id.device, static_cast<std::uint16_t>(subsystem >> 16),
                                static_cast<std::uint16_t>(subsystem & 0xffffU)),
                  function_with(id.vendor, 0x74b5, id.vendor, id.device)}) {
                EXPECT_TRUE(fresh.match(function) == whole.match(function)) << matched(whole, function);
            }
        }
    }
    EXPECT_EQ(unread.find(""), nullptr);
    EXPECT_EQ(unread.find("Repository"), nullptr);
    EXPECT_EQ(unread.rows().size(), whole.rows().size());
    EXPECT_EQ(unread.document(), whole.document());
    EXPECT_EQ(render_specs_text(unread, ""), render_specs_text(whole, ""));
}

}  // namespace
}  // namespace gpucheck
