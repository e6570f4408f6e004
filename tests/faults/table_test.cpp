// No fault of a host stays without a word for its provider because somebody forgot it.
#include "providers/render/fault_table.h"

#include <gtest/gtest.h>

#include <regex>

#include "checks/specs/catalogue.h"

namespace gpucheck::faults {
namespace {

const FaultTable& fault_table() {
    const auto& embedded = FaultTable::embedded();
    EXPECT_TRUE(std::holds_alternative<FaultTable>(embedded)) << std::get<std::string>(embedded);
    return std::get<FaultTable>(embedded);
}

TEST(FaultTable, HasAWordForEveryFaultThatMayBeTheHosts) {
    for (const CatalogueRow& row : catalogue()) {
        if (row.severity != Verdict::fail || row.scope == Scope::guest) continue;
        EXPECT_TRUE(fault_table().row(row.code) != nullptr || !fault_table().why_not(row.code).empty())
            << row.code << ": give it a row in providers/render/faults.json, or say there why nobody is told";
    }
}

TEST(FaultTable, NamesEachCodeOnce) {
    std::set<std::string> seen;
    for (const std::string& code : fault_table().codes()) {
        EXPECT_TRUE(seen.insert(code).second) << code << " is listed twice";
        const std::string begin = code.substr(0, code.size() - 1);
        const bool matches = std::any_of(
            catalogue().begin(), catalogue().end(),
            [&](const CatalogueRow& row) { return row.code.compare(0, begin.size(), begin) == 0; });
        EXPECT_TRUE(code.back() != '*' || matches) << code;
    }
}

TEST(FaultTable, LooksForTheNameBeforeThePattern) {
    EXPECT_EQ(fault_table().row("xid.79")->azure, "XID79FallenOffBus");
    EXPECT_EQ(fault_table().row("xid.62")->azure, "GpuXIDError");
    EXPECT_EQ(fault_table().row("amdgpu.reset.failed")->azure, "AmdGpuResetFailed");
    EXPECT_EQ(fault_table().row("gpu.count.missing")->azure, "HpcMissingGpu");
    EXPECT_EQ(fault_table().row("burn.wrong")->gcp, "SILENT_DATA_CORRUPTION");
    EXPECT_EQ(fault_table().row("burn.wrong")->gke, "SDC");
    EXPECT_EQ(fault_table().row("kernel.log.overflow"), nullptr);
    EXPECT_EQ(fault_table().row("xid"), nullptr);
    EXPECT_EQ(fault_table().row("kfd.absent"), nullptr) << "the guest's";
}

// DigitalOcean's rule for tags, with the longest prefix.
TEST(FaultTable, TagsAreTags) {
    const std::regex rule("^[a-zA-Z0-9_:-]{1,255}$");
    for (const std::string& code : fault_table().codes()) {
        if (const FaultRow* row = fault_table().row(code)) {
            EXPECT_TRUE(std::regex_match("gpucheck:fail:" + row->tag, rule));
        }
    }
}

TEST(FaultTable, SaysWhatIsWrongWithAFile) {
    for (
        const char* text :
        {"", "{}", "[]", R"({"faults": []})", R"({"faults": [{}], "not_offered": []})",
         R"({"faults": [{"tag":"a","codes":[1],"azure":"a","gcp":"a","gke":"a","aws":"a","nvsentinel":"a"}]})",
         R"({"faults": [{"tag":"a","codes":[],"azure":"a","gcp":"a","gke":"a","aws":"a","nvsentinel":"a"}]})",
         R"({"faults": [{"tag":"a","codes":["x"],"azure":"a","gcp":"a","gke":"a","aws":"a","nvsentinel":"a","b":1}]})"}) {
        const auto parsed = FaultTable::parse(text);
        ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << text;
        EXPECT_EQ(std::get<std::string>(parsed).rfind("faults.json: ", 0), 0U)
            << std::get<std::string>(parsed);
    }
}

}  // namespace
}  // namespace gpucheck::faults
