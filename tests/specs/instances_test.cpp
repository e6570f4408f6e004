// Instance types as providers spell them, and what they promise.
#include "checks/specs/instances.h"

#include <gtest/gtest.h>

#include <set>

#include "checks/specs/data_file.h"
#include "tests/specs/specs_folder.h"

extern "C" const char gpucheck_instances_json_begin[];
extern "C" const char gpucheck_instances_json_end[];

namespace gpucheck {
namespace {

std::string found(std::string_view provider, std::string_view type) {
    const auto row = find_instance(provider, type);
    if (!row) return "none";
    return row->type + " " + std::to_string(row->gpu_count) + " " + row->board.value_or("?");
}

TEST(Instances, DigitalOceanSlugsWithAndWithoutMarketSuffix) {
    EXPECT_EQ(found("digitalocean", "gpu-mi300x8-1536gb"), "gpu-mi300x8-1536gb 8 mi300x");
    EXPECT_EQ(found("digitalocean", "gpu-mi300x1-192gb"), "gpu-mi300x1-192gb 1 mi300x");
    EXPECT_EQ(found("digitalocean", "gpu-mi350x8-2304gb-spot"), "gpu-mi350x8-2304gb 8 mi350x");
    EXPECT_EQ(found("digitalocean", "gpu-b300x1-288gb-lc-spot"), "gpu-b300x1-288gb 1 b300-sxm-270gb");
    EXPECT_EQ(found("digitalocean", "gpu-mi325x8-2048gb-fabric-contracted"), "gpu-mi325x8-2048gb 8 mi325x");
    EXPECT_EQ(found("digitalocean", "gpu-mi300x8-1536gb-devcloud"), "gpu-mi300x8-1536gb 8 mi300x");
    EXPECT_EQ(found("digitalocean", "gpu-h200x8-1128gb-contracted"), "gpu-h200x8-1128gb 8 h200-sxm-141gb");
    // Near misses: an unknown suffix, a suffix alone, upper case, a CPU droplet.
    EXPECT_EQ(found("digitalocean", "gpu-mi300x8-1536gb-trial"), "none");
    EXPECT_EQ(found("digitalocean", "-spot"), "none");
    EXPECT_EQ(found("digitalocean", "GPU-MI300X8-1536GB"), "none");
    EXPECT_EQ(found("digitalocean", "s-2vcpu-4gb"), "none");
    EXPECT_EQ(found("aws", "p5.48xlarge-spot"), "none");
}

TEST(Instances, AzureIgnoresCaseAndNobodyElse) {
    EXPECT_EQ(found("azure", "Standard_ND96isr_MI300X_v5"), "Standard_ND96isr_MI300X_v5 8 mi300x");
    EXPECT_EQ(found("azure", "standard_nd96isr_mi300x_V5"), "Standard_ND96isr_MI300X_v5 8 mi300x");
    EXPECT_EQ(found("oci", "BM.GPU.H100.8"), "BM.GPU.H100.8 8 h100-sxm-80gb");
    EXPECT_EQ(found("oci", "bm.gpu.h100.8"), "none");
    EXPECT_EQ(found("aws", "P5.48XLARGE"), "none");
}

TEST(Instances, GoogleMachineTypesMayComeAsAPath) {
    EXPECT_EQ(found("gcp", "a3-highgpu-8g"), "a3-highgpu-8g 8 h100-sxm-80gb");
    EXPECT_EQ(found("gcp", "projects/123/machineTypes/a3-highgpu-8g"), "a3-highgpu-8g 8 h100-sxm-80gb");
    EXPECT_EQ(found("gcp", "projects/123/machineTypes/"), "none");
    EXPECT_EQ(found("aws", "projects/1/p5.48xlarge"), "none");
}

TEST(Instances, UnknownProvidersAndTypesAreNone) {
    EXPECT_EQ(found("", ""), "none");
    EXPECT_EQ(found("aws", ""), "none");
    EXPECT_EQ(found("nobody", "gpu-mi300x8-1536gb"), "none");
    EXPECT_EQ(found("azure", "p5.48xlarge"), "none");
    EXPECT_EQ(found("aws", std::string(1 << 20, 'p')), "none");
}

TEST(Instances, NarrowWiringOfAws) {
    for (const char* type : {"g4dn.xlarge", "g4dn.metal", "g5.48xlarge", "g6.12xlarge"}) {
        EXPECT_EQ(find_instance("aws", type)->pcie_width, 8U) << type;
    }
    EXPECT_FALSE(find_instance("aws", "p5.48xlarge")->pcie_width.has_value());
    EXPECT_FALSE(find_instance("aws", "g6e.12xlarge")->pcie_width.has_value());
    EXPECT_EQ(find_instance("aws", "g6e.12xlarge")->gpu_count, 4U);
}

TEST(Instances, EveryRowNamesABoardOfTheTableAndASource) {
    const auto loaded = InstanceTable::load();
    ASSERT_TRUE(std::holds_alternative<InstanceTable>(loaded)) << std::get<std::string>(loaded);
    std::set<std::string> seen;
    for (const InstanceRow& row : std::get<InstanceTable>(loaded).rows()) {
        const std::string name = row.provider + " " + row.type;
        EXPECT_TRUE(seen.insert(name).second) << name;
        if (row.board) {
            const Board* board = embedded_boards().find(*row.board);
            ASSERT_NE(board, nullptr) << name;
            EXPECT_TRUE(row.gpu_link != "xgmi" || board->vendor == Vendor::amd) << name;
            EXPECT_TRUE(row.gpu_link != "nvlink" || board->vendor == Vendor::nvidia) << name;
            if (row.pcie_width && board->pcie_width.known() && *row.pcie_width != *board->pcie_width) {
                const auto& narrow = board->narrow_widths_by_design;
                EXPECT_NE(std::find(narrow.begin(), narrow.end(), *row.pcie_width), narrow.end()) << name;
            }
        }
        EXPECT_GE(row.gpu_count, 1U) << name;
        EXPECT_LE(row.gpu_count, 16U) << name;
        EXPECT_FALSE(row.source.empty()) << name;
        EXPECT_TRUE(row.gpu_count > 1 || row.gpu_link.empty()) << name;
    }
    EXPECT_GT(seen.size(), 100U);
}

TEST(Instances, CountsInNamesAgreeWithTheRows) {
    const auto loaded = InstanceTable::load();
    std::size_t checked = 0;
    for (const InstanceRow& row : std::get<InstanceTable>(loaded).rows()) {
        std::size_t at = std::string::npos;
        if (row.provider == "digitalocean") at = row.type.find("x8-") != std::string::npos ? 8 : 1;
        if (row.provider == "oci")
            at = static_cast<std::size_t>(std::stoul(row.type.substr(row.type.rfind('.') + 1)));
        if (row.provider == "nebius")
            at = static_cast<std::size_t>(std::stoul(row.type.substr(row.type.find('/') + 1)));
        if (row.provider == "gcp" && row.type.ends_with("g")) {
            at = static_cast<std::size_t>(std::stoul(row.type.substr(row.type.rfind('-') + 1)));
        }
        if (at == std::string::npos) continue;
        EXPECT_EQ(row.gpu_count, at) << row.provider << " " << row.type;
        ++checked;
    }
    EXPECT_GT(checked, 40U);
}

TEST(Instances, ExpectationsCarryTheirRowAndMark) {
    const Expectations expected = expectations_of(*find_instance("digitalocean", "gpu-mi300x8-1536gb-spot"));
    EXPECT_TRUE(expected.gpu_count.is(8U));
    EXPECT_EQ(expected.gpu_count.source(),
              "instances.json: digitalocean gpu-mi300x8-1536gb (as of 2026-10-08)");
    EXPECT_TRUE(expected.board.is("mi300x"));
    EXPECT_FALSE(expected.pcie_width.known());
    EXPECT_EQ(expected.pcie_width.why(), "no pcie_width in this row");
    EXPECT_FALSE(expected.driver_version.known());
    const Expectations g5 = expectations_of(*find_instance("aws", "g5.xlarge"));
    EXPECT_TRUE(g5.pcie_width.is(8U));
    EXPECT_EQ(g5.gpu_count.source(), "instances.json: aws g5.xlarge (as of 2026-11-30, unverified)");
    EXPECT_EQ(g5.pcie_width.source(), "instances.json: aws g5.xlarge (as of 2026-11-30)");
    EXPECT_FALSE(expectations_of(*find_instance("azure", "Standard_ND96asr_MI200_v4")).board.known());
}

TEST(Instances, PartitionsComeThroughFromAnOverride) {
    SpecsFolder folder;
    folder.file("instances.json",
                R"({"schema_version": 1, "rows": [{"provider": "mine", "type": "cpx", "board": "mi300x",
        "gpu_count": 8, "compute_partition": "CPX", "memory_partition": "NPS4", "pcie_generation": 5, "pcie_width": 16,
        "local_nvme_count": 0, "nic_count": 8, "gpu_link": "xgmi", "source": "contract", "as_of": "2026-11-01"}]})");
    const auto loaded = InstanceTable::load(folder.path(), &embedded_boards());
    ASSERT_TRUE(std::holds_alternative<InstanceTable>(loaded)) << std::get<std::string>(loaded);
    const auto row = std::get<InstanceTable>(loaded).find("mine", "cpx");
    ASSERT_TRUE(row.has_value());
    const Expectations expected = expectations_of(*row);
    EXPECT_TRUE(expected.compute_partition.is("CPX"));
    EXPECT_TRUE(expected.memory_partition.is("NPS4"));
    EXPECT_TRUE(expected.pcie_generation.is(5U));
    EXPECT_EQ(row->local_nvme_count, 0U);
    EXPECT_FALSE(std::get<InstanceTable>(loaded).find("aws", "p5.48xlarge").has_value());
}

TEST(Instances, TheFileInsideTheBinaryNamesNoMemberTwice) {
    const std::string_view text(
        gpucheck_instances_json_begin,
        static_cast<std::size_t>(gpucheck_instances_json_end - gpucheck_instances_json_begin));
    const auto parsed = parse_data(text);
    EXPECT_TRUE(std::holds_alternative<Json>(parsed)) << std::get<std::string>(parsed);
}

}  // namespace
}  // namespace gpucheck
