// Hostile bytes through every parser of amdgpu's files: they end in a value within bounds or a reason.
#include <gtest/gtest.h>

#include <random>

#include "agent/vendor/amdgpu_text.h"
#include "agent/vendor/gpu_metrics.h"
#include "tests/amdgpu/samples.h"

namespace gpucheck {
namespace {

constexpr unsigned kSeed = 20261130;

void expect_sane(const AmdMetrics& m) {
    for (const Fact<int>* degrees : {&m.hotspot_c, &m.memory_c, &m.vr_soc_c, &m.edge_c}) {
        if (degrees->known()) {
            ASSERT_TRUE(**degrees >= -100 && **degrees <= 250);
        } else {
            ASSERT_FALSE(degrees->why().empty());
        }
    }
    if (m.gfx_activity_percent.known()) {
        ASSERT_LE(*m.gfx_activity_percent, 100U);
    }
    if (m.links.pcie_width.known()) {
        ASSERT_LE(*m.links.pcie_width, 64U);
    }
    if (m.links.xgmi_link_up.known()) {
        ASSERT_FALSE(m.links.xgmi_link_up->empty());
        for (const unsigned up : *m.links.xgmi_link_up) ASSERT_LE(up, 1U);
    }
    if (m.gfxclk_mhz.known()) {
        ASSERT_LE(m.gfxclk_mhz->size(), 1023U);
    }
}

TEST(Mutations, MetricsOfEveryLayout) {
    std::mt19937 random(kSeed);
    for (const char* layout : {"1.3", "1.4", "1.5", "1.6-early", "1.6", "1.7", "1.8-early", "1.8", "1.9"}) {
        const std::string bytes = test::sample(layout);
        ASSERT_FALSE(bytes.empty());
        for (int round = 0; round < 600; ++round) {
            std::string mutated = bytes;
            const std::size_t reach =
                round % 2 == 0 ? std::min<std::size_t>(mutated.size(), 400) : mutated.size();
            for (unsigned i = 0; i <= random() % 6; ++i)
                mutated[random() % reach] = static_cast<char>(random());
            if (round % 5 == 0) mutated.resize(random() % (mutated.size() + 1));
            expect_sane(vendor::parse_gpu_metrics(mutated, "f"));
        }
    }
}

TEST(Mutations, RandomBytesAndAllOnes) {
    std::mt19937 random(kSeed);
    for (int round = 0; round < 4000; ++round) {
        std::string bytes(random() % 600, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        if (bytes.size() > 3 && round % 2 == 0) {
            bytes[2] = 1;
            bytes[3] = static_cast<char>(3 + random() % 8);
        }
        if (bytes.size() > 7 && round % 4 == 0) {
            bytes[3] = 9;  // an attribute list that begins well
            bytes[0] = 8, bytes[1] = 0, bytes[4] = static_cast<char>(random() % 4),
            bytes[5] = bytes[6] = bytes[7] = 0;
        }
        expect_sane(vendor::parse_gpu_metrics(bytes, "f"));
    }
    for (std::size_t size = 0; size < 4100; size += 7)
        ASSERT_FALSE(vendor::parse_gpu_metrics(std::string(size, '\xff'), "f").hotspot_c.known());
}

template <class Parse>
void mutate_text(const std::string& text, Parse parse) {
    std::mt19937 random(kSeed);
    for (std::size_t size = 0; size <= text.size(); ++size) parse(text.substr(0, size));
    for (int round = 0; round < 4000; ++round) {
        std::string mutated = text;
        for (unsigned i = 0; i <= random() % 4; ++i) {
            const std::size_t at = random() % mutated.size();
            switch (random() % 3) {
                case 0:
                    mutated[at] = static_cast<char>(random());
                    break;
                case 1:
                    mutated.insert(at, mutated.substr(random() % mutated.size(), random() % 12));
                    break;
                default:
                    mutated.erase(at, random() % 3);
                    if (mutated.empty()) mutated = "\n";
            }
        }
        parse(mutated);
    }
}

TEST(Mutations, ErrorCounts) {
    int known = 0, missing = 0;
    mutate_text("ue: 12\nce: 345\nde: 0\n", [&](const std::string& text) {
        const RasBlock block = vendor::parse_err_count("umc", Fact<std::string>(text, "f"));
        known += block.uncorrectable.known() ? 1 : 0;
        missing += block.uncorrectable.known() ? 0 : 1;
        // Either the file is understood, or nothing in it is.
        if (!block.uncorrectable.known() && !block.uncorrectable.absent()) {
            ASSERT_FALSE(block.correctable.known());
        }
    });
    EXPECT_GT(known, 0);
    EXPECT_GT(missing, 0);
}

TEST(Mutations, BadPages) {
    int known = 0, missing = 0;
    mutate_text("0x0012a000 : 0x00001000 : R\n0x0012a001 : 0x00001000 : P\n", [&](const std::string& text) {
        const Fact<BadPages> pages = vendor::parse_bad_pages(Fact<std::string>(text, "f"));
        pages.known() ? ++known : ++missing;
        if (pages.known()) {
            ASSERT_LE(*pages->retired + *pages->pending + *pages->failed, 64U);
        }
    });
    EXPECT_GT(known, 0);
    EXPECT_GT(missing, 0);
}

TEST(Mutations, ClockLevels) {
    int known = 0, missing = 0;
    mutate_text("S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n", [&](const std::string& text) {
        const auto clocks = vendor::parse_dpm(Fact<std::string>(text, "f"));
        clocks.highest_mhz.known() ? ++known : ++missing;
        if (clocks.highest_mhz.known()) {
            ASSERT_LE(*clocks.highest_mhz, 60000U);
        }
        if (clocks.now_mhz.known()) {
            ASSERT_LE(*clocks.now_mhz, *clocks.highest_mhz);
        }
    });
    EXPECT_GT(known, 0);
    EXPECT_GT(missing, 0);
}

}  // namespace
}  // namespace gpucheck
