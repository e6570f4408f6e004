// The store below HTTP: an older database is brought up to date with what is in it, and a batch is whole or
// not at all. suite.py asks the rest of both databases.
#include <gtest/gtest.h>

#include <filesystem>

#include "fleet/collect/schema.h"
#include "fleet/collect/writer.h"

namespace gpucheck::fleet::collect {
namespace {

class File {
  public:
    File() {
        std::string name = (std::filesystem::temp_directory_path() / "store-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~File() { std::filesystem::remove_all(folder_); }
    std::string path() const { return (folder_ / "reports.db").string(); }

  private:
    std::filesystem::path folder_;
};

Incoming report(const std::string& id, const std::string& digest = "d") {
    Incoming made;
    made.report_id = id;
    made.digest = digest;
    made.received_ms = 1000;
    made.created = made.at = "2026-11-30T10:00:00Z";
    made.node = made.machine = "gpu-1";
    made.verdict = "pass";
    made.content_type = "application/vnd.gpucheck.report+json";
    made.body = std::string("{\0}", 3);
    return made;
}

std::unique_ptr<Store> opened(const std::string& path) {
    auto store = Store::open(path, "");
    if (const auto* why = std::get_if<SqlError>(&store)) ADD_FAILURE() << why->what;
    return std::move(std::get<std::unique_ptr<Store>>(store));
}

std::vector<Taken> taken(Store& store, const std::vector<const Incoming*>& batch) {
    auto result = store.add(batch);
    if (const auto* why = std::get_if<SqlError>(&result)) ADD_FAILURE() << why->what;
    return std::get<std::vector<Taken>>(result);
}

TEST(Schema, AnOlderDatabaseKeepsItsReports) {
    const File file;
    {
        auto sql = open_sqlite(file.path());
        auto& old = *std::get<std::unique_ptr<Sql>>(sql);
        ASSERT_FALSE(migrate(old, 1).has_value());
        EXPECT_TRUE(std::holds_alternative<SqlError>(old.run("SELECT place FROM pulse")));
        const auto added = old.run(
            "INSERT INTO reports (report_id, digest, received_ms, created, at, node, machine, verdict, "
            "verified, "
            "simulated, key_id, token, content_type, gzip, body) VALUES ('old', $1, 1, '', '', 'n', 'n', "
            "'fail', "
            "0, 0, '', '', '', 0, $2)",
            {Blob{"d"}, Blob{"b"}});
        ASSERT_TRUE(std::holds_alternative<std::vector<SqlRow>>(added));
    }
    const auto store = opened(file.path());
    EXPECT_FALSE(store->pulse().has_value());
    const auto found = std::get<std::optional<Body>>(store->report("old"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bytes, "b");
    EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Store>>(Store::open(file.path(), "")));
}

TEST(Schema, ANewerDatabaseIsLeftAlone) {
    const File file;
    {
        auto sql = open_sqlite(file.path());
        auto& newer = *std::get<std::unique_ptr<Sql>>(sql);
        ASSERT_FALSE(migrate(newer).has_value());
        newer.run("INSERT INTO gpucheck_fleet_schema (version) VALUES (999)");
    }
    EXPECT_TRUE(std::holds_alternative<SqlError>(Store::open(file.path(), "")));
}

TEST(Store, KeepsAReportOnceAndAsItCame) {
    const File file;
    const auto store = opened(file.path());
    const Incoming a = report("a"), same = report("a"), other = report("a", "e"), b = report("b");
    EXPECT_EQ(taken(*store, {&a, &same, &other, &b}),
              (std::vector<Taken>{Taken::added, Taken::known, Taken::conflict, Taken::added}));
    EXPECT_EQ(std::get<std::optional<Body>>(store->report("a"))->bytes, a.body);
    EXPECT_FALSE(std::get<std::optional<Body>>(store->report("c")).has_value());
    EXPECT_EQ(std::filesystem::status(file.path()).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    const auto counts = std::get<Store::Counts>(store->counts());
    EXPECT_EQ(counts.reports, 2);
    EXPECT_EQ(counts.last_seq, 2);
}

TEST(Writer, AnswersAllThatItTookWhenItEnds) {
    const File file;
    const auto store = opened(file.path());
    std::atomic<int> added = 0, known = 0, pulses = 0;
    {
        Writer writer(*store, [](const std::string& why) { ADD_FAILURE() << why; });
        for (int i = 0; i < 300; ++i)
            EXPECT_TRUE(writer.add(report(std::to_string(i % 200)), [&](std::optional<Taken> what) {
                added += what == Taken::added;
                known += what == Taken::known;
            }));
        EXPECT_TRUE(writer.pulse([&](StoreFault fault) { pulses += fault == StoreFault::none; }));
        writer.finish();
        EXPECT_FALSE(writer.add(report("late"), [](std::optional<Taken>) { ADD_FAILURE() << "too late"; }));
    }
    EXPECT_EQ(added, 200);
    EXPECT_EQ(known, 100);
    EXPECT_EQ(pulses, 1);
    EXPECT_EQ(std::get<std::int64_t>(store->forget(1000, 1000)), 0);
    EXPECT_EQ(std::get<std::int64_t>(store->forget(1001, 150)), 150);
    EXPECT_EQ(std::get<std::int64_t>(store->forget(1001, 150)), 50);
}

}  // namespace
}  // namespace gpucheck::fleet::collect
