// The streaming scanner: where the bytes are cut, how the processor searches them and how long a line is must
// not change what a log says.
#include <gtest/gtest.h>

#include <random>

#include "agent/host/kernel_log/rules.h"
#include "agent/host/kernel_log/scan.h"

namespace gpucheck::host {
namespace {

const std::string kFault = "[  100.000001] NVRM: Xid (PCI:0000:27:00): 79, GPU has fallen off the bus.\n";

LogSummary scan(std::string_view log, std::size_t block) {
    LogScanner scanner;
    for (std::size_t i = 0; i < log.size(); i += block) scanner.feed(log.substr(i, block));
    return scanner.finish();
}

TEST(Scan, CutsAnywhere) {
    std::string log;
    for (int i = 0; i < 40; ++i)
        log += "[   99.00000" + std::to_string(i % 10) + "] ordinary line number " + std::to_string(i) + "\n";
    log += kFault + "[  101.000000] and on\n\r\n" + kFault.substr(0, kFault.size() - 1);
    const LogSummary whole = scan(log, log.size());
    ASSERT_EQ(whole.events.size(), 1U);
    EXPECT_EQ(whole.events.at(0).count, 2U);
    EXPECT_EQ(whole.lines, 44U);
    EXPECT_EQ(whole.events.at(0).line, 41U);
    for (const std::size_t block : {1U, 2U, 3U, 7U, 64U, 1000U}) EXPECT_EQ(scan(log, block), whole) << block;
}

TEST(Scan, OverLongLinesAreCutAndTheRestIsSkipped) {
    const std::string filler(3 * kLongestLine, 'x');
    for (const std::size_t block : {std::size_t{1000}, kLongestLine, 10 * kLongestLine}) {
        EXPECT_EQ(scan(filler + kFault + kFault, block).events.at(0).count, 1U)
            << "behind the cut nothing is read";
        EXPECT_EQ(
            scan(kFault.substr(0, kFault.size() - 1) + filler + "\n" + kFault, block).events.at(0).count, 2U);
        EXPECT_EQ(scan(filler + "\n" + kFault, block).lines, 2U);
        EXPECT_EQ(scan(filler, block).lines, 1U);
        const std::string wrapped = std::string(20000, 'y') + " kernel: " + kFault;
        EXPECT_EQ(scan(wrapped, block).verdict(), Verdict::fail) << "a long wrapper in front";
    }
    for (const std::size_t length : {kLongestLine - 1, kLongestLine, kLongestLine + 1}) {
        const std::string line(length, 'x');
        for (const std::size_t block : {std::size_t{999}, length, 2 * length}) {
            EXPECT_EQ(scan(line + "\n" + kFault, block).lines, 2U) << length << " in " << block;
            EXPECT_EQ(scan(line + "\n" + kFault, block).events.at(0).line, 2U) << length << " in " << block;
        }
    }
}

TEST(Scan, EvidenceIsBounded) {
    const LogSummary log = scan("NVRM: Xid (PCI:0000:27:00): 79, " + std::string(5000, 'z') + "\n", 100);
    EXPECT_LE(log.events.at(0).evidence.size(), Folder::kMostEvidence);
}

TEST(Prefilter, VectorAndScalarAgree) {
    const Prefilter& filter = anchor_filter();
    if (!filter.vectorised()) GTEST_SKIP() << "this processor has no AVX2";
    std::mt19937 random(7);
    const std::vector<std::string>& anchors = Rules::get().anchors;
    for (int round = 0; round < 3000; ++round) {
        std::string data(random() % 300, ' ');
        constexpr std::string_view kBytes = "NVRMXidamdgpuAER: \n\xff\x80{[0";
        for (char& c : data) c = kBytes[random() % kBytes.size()];
        for (unsigned n = random() % 4; n > 0 && !data.empty(); --n) {
            std::string anchor = anchors[random() % anchors.size()];
            if (random() % 3 == 0) anchor[random() % anchor.size()] ^= 1;  // a near-miss
            data.insert(random() % data.size(), anchor);
        }
        for (std::size_t from = 0;;) {
            const std::size_t fast = filter.find(data, from), slow = filter.find_scalar(data, from);
            ASSERT_EQ(fast, slow) << round << " from " << from;
            if (fast == Prefilter::kNone) break;
            from = fast + 1;
        }
    }
}

TEST(Prefilter, FindsEveryAnchorAtEveryPlace) {
    const Prefilter& filter = anchor_filter();
    for (const std::string& anchor : Rules::get().anchors) {
        for (std::size_t lead = 0; lead < 70; ++lead) {
            const std::string data = std::string(lead, '.') + anchor;
            EXPECT_NE(filter.find(data, 0), Prefilter::kNone) << anchor << " at " << lead;
        }
    }
}

TEST(Prefilter, CountsNewlines) {
    std::mt19937 random(3);
    for (std::size_t size = 0; size < 700; ++size) {
        std::string data(size, 'x');
        for (char& c : data) c = random() % 5 == 0 ? '\n' : 'x';
        EXPECT_EQ(count_newlines(data), static_cast<std::size_t>(std::count(data.begin(), data.end(), '\n')));
    }
    EXPECT_EQ(count_newlines(std::string(100000, '\n')), 100000U);
}

}  // namespace
}  // namespace gpucheck::host
