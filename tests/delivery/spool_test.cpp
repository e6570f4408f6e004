// The spool: nothing lost, nothing twice, whoever dies when.
#include "providers/delivery/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/delivery/gzip.h"
#include "tests/delivery/folder.h"

namespace gpucheck::delivery {
namespace {

constexpr std::int64_t kSpoolNow = 1796000000;

// The number is the age in days before kSpoolNow.
std::string id_of(int number, int days = 0) {
    char text[80];
    const auto ms =
        static_cast<unsigned long long>(kSpoolNow - days * 86400LL) * 1000 + static_cast<unsigned>(number);
    std::snprintf(text, sizeof text, "%08llx-%04llx-7000-8000-%012d", ms >> 16U, ms & 0xffffU, number);
    return text;
}

Entry entry(int number, int days = 0, std::string url = "https://example.org/r") {
    Entry entry;
    entry.report_id = id_of(number, days);
    entry.created = "2026-11-30T10:00:00Z";
    entry.source = "gpucheck:///node";
    entry.content_type = "application/json";
    entry.sink.url = std::move(url);
    entry.sink.token_file = "/etc/token";
    entry.sink.timeout_s = 3.5;
    entry.body = "{\"n\":" + std::to_string(number) + "}\n";
    return entry;
}

struct Fixture : ::testing::Test {
    Spool open(Bounds bounds = {}) {
        return std::move(std::get<Spool>(Spool::open(folder.path("spool"), bounds)));
    }
    test::Folder folder;
};
using SpoolTest = Fixture;

TEST(EntryFile, ComesBackAndEveryDamageShows) {
    Entry given = entry(1);
    given.body += std::string("\0\n\xff", 3);
    const std::string file = encode(given);
    const Entry back = std::get<Entry>(decode(file));
    EXPECT_EQ(back.body, given.body);
    EXPECT_EQ(back.sink, given.sink);
    EXPECT_EQ(back.report_id, given.report_id);
    for (std::size_t i = 0; i < file.size(); ++i)
        EXPECT_TRUE(std::holds_alternative<std::string>(decode(file.substr(0, i)))) << i;
    const std::size_t body = file.find('\n') + 1;
    for (std::size_t i = body; i < file.size(); ++i) {
        std::string changed = file;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_TRUE(std::holds_alternative<std::string>(decode(changed))) << i;
    }
    for (const char* bad : {"", "\n", "{}\n", "[]\n", "7\n", "{\"gpucheck_spool\":2}\n",
                            "{\"gpucheck_spool\":1,\"bytes\":0}\n"})
        EXPECT_TRUE(std::holds_alternative<std::string>(decode(bad))) << bad;
}

TEST(EntryNames, ComeBackAndForeignOnesAreNone) {
    const EntryName name{id_of(1), Verdict::fail, key_of("https://a"), 3, kSpoolNow, "503"};
    EXPECT_EQ(EntryName::parse(name.file()), name);
    const std::string id = id_of(1), sink = key_of("x");
    for (const std::string& bad :
         {std::string(), std::string("README"), id + ".report", "x.fail." + sink + ".0.0.-.report",
          id + ".bad." + sink + ".0.0.-.report", id + ".fail.xyz.0.0.-.report",
          id + ".fail." + sink + ".-1.0.-.report", id + ".fail." + sink + ".0.0.-.report.tmp",
          id + ".fail." + sink + ".0.0..report", id + ".fail." + sink + ".99999999999999.0.-.report",
          id + ".fail." + sink + ".0.0.-.more.report"})
        EXPECT_FALSE(EntryName::parse(bad)) << bad;
}

TEST_F(SpoolTest, KeepsOneFileForEachReportAndReceiver) {
    Spool spool = open();
    EXPECT_FALSE(spool.add(entry(2), Verdict::fail));
    EXPECT_FALSE(spool.add(entry(1), Verdict::pass));
    EXPECT_FALSE(spool.add(entry(1), Verdict::pass)) << "the same again is no error and no second file";
    EXPECT_FALSE(spool.add(entry(1, 0, "https://example.org/other"), Verdict::pass));
    const auto list = spool.list(Shelf::pending);
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list.front().report_id, id_of(1)) << "oldest first";
    const auto claim = spool.claim(Shelf::pending, list.back());
    ASSERT_TRUE(claim);
    EXPECT_EQ(std::get<Entry>(spool.read(*claim)).body, entry(2).body);
    EXPECT_EQ(folder.list("spool/pending").size(), 3U) << "nothing half-written is left";
}

TEST_F(SpoolTest, AClaimIsForOneAndEndsWithItsProcess) {
    Spool spool = open();
    ASSERT_FALSE(spool.add(entry(1), Verdict::fail));
    const EntryName name = spool.list(Shelf::pending).front();
    {
        const auto claim = spool.claim(Shelf::pending, name);
        ASSERT_TRUE(claim);
        EXPECT_FALSE(spool.claim(Shelf::pending, name));
    }
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = spool.claim(Shelf::pending, name);
        static_cast<void>(::write(ready[1], "x", 1));
        for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_FALSE(spool.claim(Shelf::pending, name));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(spool.claim(Shelf::pending, name));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(SpoolTest, WhoComesLateFindsTheNameGone) {
    Spool spool = open();
    ASSERT_FALSE(spool.add(entry(1), Verdict::fail));
    const EntryName old = spool.list(Shelf::pending).front();
    auto claim = spool.claim(Shelf::pending, old);
    EntryName tried = old;
    tried.attempts = 1;
    tried.last = "503";
    spool.move(*claim, Shelf::pending, tried);
    claim.reset();
    EXPECT_FALSE(spool.claim(Shelf::pending, old));
    claim = spool.claim(Shelf::pending, tried);
    ASSERT_TRUE(claim);
    spool.delivered(*claim);
    EXPECT_TRUE(spool.list(Shelf::pending).empty());
}

TEST_F(SpoolTest, DamagedFilesAreSetAsideAndLinksAreNotFollowed) {
    Spool spool = open();
    ASSERT_FALSE(spool.add(entry(1), Verdict::fail));
    const EntryName name = spool.list(Shelf::pending).front();
    folder.write("spool/pending/" + name.file(), "half");
    auto claim = spool.claim(Shelf::pending, name);
    EXPECT_NE(std::get<std::string>(spool.read(*claim)).find("set aside"), std::string::npos);
    EXPECT_EQ(spool.damaged().size(), 1U);
    EXPECT_TRUE(spool.list(Shelf::pending).empty());

    const EntryName other{id_of(2), Verdict::fail, key_of("x")};
    folder.write("secret", "s");
    ASSERT_EQ(::symlink(folder.path("secret").c_str(), folder.path("spool/pending/" + other.file()).c_str()),
              0);
    EXPECT_FALSE(spool.claim(Shelf::pending, other));
    // A report under another report's name would be delivered under its key.
    const EntryName wrong{id_of(3), Verdict::fail, key_of("https://example.org/r")};
    folder.write("spool/pending/" + wrong.file(), encode(entry(4)));
    claim = spool.claim(Shelf::pending, wrong);
    EXPECT_TRUE(std::holds_alternative<std::string>(spool.read(*claim)));
}

TEST_F(SpoolTest, DropsTheOldestPassesFirstAndCountsThem) {
    Bounds bounds;
    bounds.most_reports = 3;
    Spool spool = open(bounds);
    ASSERT_FALSE(spool.add(entry(1), Verdict::fail));
    ASSERT_FALSE(spool.add(entry(2), Verdict::pass));
    ASSERT_FALSE(spool.add(entry(3), Verdict::pass));
    ASSERT_FALSE(spool.add(entry(4), Verdict::unknown));
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 1U);
    ASSERT_FALSE(spool.add(entry(5), Verdict::fail));
    ASSERT_FALSE(spool.add(entry(6), Verdict::fail));
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 2U);
    std::vector<std::string> left;
    for (const EntryName& name : spool.list(Shelf::pending)) left.push_back(name.report_id);
    EXPECT_EQ(left, (std::vector<std::string>{id_of(1), id_of(5), id_of(6)}));
    const Dropped expected{0, 2, 0, 1, 0};
    EXPECT_EQ(open(bounds).dropped(), expected) << "another process reads the count from the disk";
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 0U);
}

TEST_F(SpoolTest, DropsBySizeAndByAgeWhereTheClockIsRight) {
    Bounds bounds;
    bounds.most_days = 30;
    bounds.most_bytes = 8192;
    Spool spool = open(bounds);
    ASSERT_FALSE(spool.add(entry(1, 31), Verdict::fail));
    ASSERT_FALSE(spool.add(entry(2, 29), Verdict::pass));
    EXPECT_EQ(spool.enforce(kSpoolNow, false), 0U);
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 1U);
    EXPECT_EQ(spool.list(Shelf::pending).front().report_id, id_of(2, 29));
    Entry big = entry(3);
    big.body = std::string(7600, 'x');
    ASSERT_FALSE(spool.add(big, Verdict::fail));
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 1U) << "the pass goes";
    ASSERT_EQ(spool.list(Shelf::pending).size(), 1U);
    EXPECT_EQ(spool.list(Shelf::pending).front().report_id, id_of(3));
}

TEST_F(SpoolTest, WhatSomebodyWorksOnIsNotDropped) {
    Bounds bounds;
    bounds.most_reports = 1;
    Spool spool = open(bounds);
    ASSERT_FALSE(spool.add(entry(1), Verdict::pass));
    ASSERT_FALSE(spool.add(entry(2), Verdict::pass));
    const auto claim = spool.claim(Shelf::pending, spool.list(Shelf::pending).front());
    EXPECT_EQ(spool.enforce(kSpoolNow, true), 1U);
    EXPECT_EQ(spool.list(Shelf::pending).front().report_id, id_of(1));
}

TEST_F(SpoolTest, WhatAKilledWriterLeftGoesAfterAnHour) {
    Spool spool = open();
    folder.write("spool/pending/.new-1-2-3-4", "half");
    spool.enforce(::time(nullptr), true);
    EXPECT_EQ(folder.list("spool/pending").size(), 1U) << "it may be written at this moment";
    spool.enforce(::time(nullptr) + 4000, true);
    EXPECT_TRUE(folder.list("spool/pending").empty());
    EXPECT_TRUE(spool.list(Shelf::pending).empty());
}

TEST_F(SpoolTest, HoldsAReceiverAcrossProcessesAndForgetsJunk) {
    Spool spool = open();
    const std::string key = key_of("https://a");
    EXPECT_EQ(spool.hold_of(key).next_try_s, 0);
    spool.hold(key, {2, kSpoolNow, "timeout"});
    EXPECT_EQ(open().hold_of(key).next_try_s, kSpoolNow);
    EXPECT_EQ(open().hold_of(key).attempts, 2U);
    for (const char* junk : {"", "[]", "{\"attempts\":-1,\"next_try_s\":\"x\"}", "{"}) {
        folder.write("spool/receivers/" + key, junk);
        EXPECT_EQ(spool.hold_of(key).next_try_s, 0) << junk;
    }
    spool.release(key);
    EXPECT_TRUE(folder.list("spool/receivers").empty());
}

TEST_F(SpoolTest, WithoutAFolderThereIsNothingAndNoneIsMade) {
    EXPECT_FALSE(std::get<0>(Spool::existing(folder.path("none"), {})));
    EXPECT_TRUE(folder.list("").empty());
    folder.write("file", "");
    EXPECT_TRUE(std::holds_alternative<disk::Error>(Spool::open(folder.path("file"), {})));
}

TEST(Gzip, ReturnsAndStaysWithinItsBound) {
    const std::string text(100000, 'x');
    const auto small = compress(text);
    ASSERT_TRUE(small);
    EXPECT_LT(small->size(), 2000U);
    EXPECT_EQ(decompress(*small, 100000), text);
    EXPECT_FALSE(decompress(*small, 99999)) << "a bomb";
    EXPECT_FALSE(decompress(small->substr(0, small->size() - 1), 100000));
    EXPECT_FALSE(decompress("junk", 100));
    EXPECT_EQ(decompress(*compress(""), 0), "");
}

}  // namespace
}  // namespace gpucheck::delivery
