// The event catalogue, row by row: each code fires on its line and keeps quiet on the line that looks like
// it, in every container.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "agent/host/kernel_log/rules.h"
#include "agent/host/kernel_log/scan.h"
#include "checks/json/json.h"
#include "checks/specs/events.h"
#include "tests/log/wrap.h"
#include "tests/source_dir.h"

namespace gpucheck::host {
namespace {

struct Case {
    std::string code, verdict, bdf;
    std::vector<std::string> fires, near_miss;
    bool raw = false;  ///< the lines bring their own container
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = [] {
        std::ifstream file(GPUCHECK_SOURCE_DIR "/tests/log/cases.json");
        std::stringstream text;
        text << file.rdbuf();
        const auto parsed = parse_json(text.str());
        std::vector<Case> list;
        for (const Json& entry : std::get<Json>(parsed).at("cases")) {
            list.push_back({entry.at("code"), entry.at("verdict"), entry.at("bdf"), entry.at("fires"),
                            entry.at("near_miss"), entry.value("raw", false)});
        }
        return list;
    }();
    return all;
}

LogSummary scan(const std::string& log) {
    LogScanner scanner;
    scanner.feed(log);
    return scanner.finish();
}

std::string codes(const LogSummary& summary) {
    std::string out;
    for (const LogEvent& event : summary.events) {
        out += event.code + " " + event.bdf + " " + std::string(name_of(event.verdict)) + " x" +
               std::to_string(event.count) + "\n";
    }
    return out;
}

TEST(Catalogue, CompilesWhole) {
    EXPECT_EQ(Rules::get().rejected, 0U);
    for (const std::string& anchor : Rules::get().anchors)
        EXPECT_GE(anchor.size(), Prefilter::kWindow) << anchor;
}

TEST(Catalogue, EveryRowHasACaseAndEveryCaseARow) {
    std::set<std::string> rows, tested;
    for (const EventRow& row : event_book().rows) rows.insert(row.catalogue.code);
    for (const Case& one : cases()) {
        tested.insert(one.code);
        EXPECT_FALSE(one.fires.empty()) << one.code;
        EXPECT_FALSE(one.near_miss.empty()) << one.code;
    }
    EXPECT_EQ(rows, tested);
}

TEST(Catalogue, EveryRowSaysWhatToDo) {
    for (const EventRow& row : event_book().rows) {
        EXPECT_FALSE(row.catalogue.title.empty()) << row.catalogue.code;
        EXPECT_FALSE(row.catalogue.cause.empty()) << row.catalogue.code;
        EXPECT_FALSE(row.catalogue.remedy.empty()) << row.catalogue.code;
        EXPECT_FALSE(row.catalogue.references.empty()) << row.catalogue.code;
        const EventRow* found = event_row(row.catalogue.code);
        EXPECT_EQ(found, &row) << "twice: " << row.catalogue.code;
    }
}

TEST(Catalogue, FiresOnceInEveryContainer) {
    for (const Case& one : cases()) {
        for (const std::string& container : containers()) {
            if (one.raw && container != "dmesg-t") continue;
            const LogSummary summary = scan(wrap(container, one.fires));
            ASSERT_EQ(summary.events.size(), 1U) << one.code << " in " << container << "\n" << codes(summary);
            const LogEvent& event = summary.events.front();
            EXPECT_EQ(event.code, one.code) << container;
            EXPECT_EQ(name_of(event.verdict), one.verdict) << one.code << " in " << container;
            EXPECT_EQ(event.bdf, one.bdf) << one.code << " in " << container;
            EXPECT_EQ(summary.lines > 0, true);
            const bool timed = container != "dmesg-t" || one.raw;
            if (timed && !one.raw) {
                EXPECT_FALSE(event.first.empty()) << one.code << " in " << container;
            }
            EXPECT_LE(
                verdict_from(one.verdict).value(),
                event_row(one.code)->catalogue.severity == Verdict::pass ? Verdict::unknown : Verdict::fail);
        }
    }
}

TEST(Catalogue, KeepsQuietOnNearMisses) {
    for (const Case& one : cases()) {
        for (const std::string& container : containers()) {
            if (one.raw && container != "dmesg-t" && container != "dmesg") continue;
            const LogSummary summary = scan(wrap(container, one.near_miss));
            EXPECT_LE(summary.verdict(), Verdict::pass) << one.code << " in " << container << "\n"
                                                        << codes(summary);
            for (const LogEvent& event : summary.events) EXPECT_NE(event.code, one.code) << container;
        }
    }
}

// The prefilter is an optimisation: parsing every line must say the same.
TEST(Catalogue, PrefilterHidesNothing) {
    for (const Case& one : cases()) {
        for (const std::string& container : containers()) {
            const std::string log = wrap(container, one.fires) + wrap(container, one.near_miss);
            LogScanner every({.since_boot = false, .every_line = true});
            every.feed(log);
            EXPECT_EQ(every.finish(), scan(log)) << one.code << " in " << container;
        }
    }
}

// What a program says about the kernel is not what the kernel says.
TEST(Catalogue, QuotedByAProgramIsNoEvent) {
    for (const Case& one : cases()) {
        if (one.raw) continue;
        for (const std::string& line : one.fires) {
            const std::string quoted =
                "Jan 14 06:20:11 node7 gpu-watch[4711]: seen: " + line +
                "\n<30>[  12.000001] systemd[1]: unit says " + line + "\n<12>[  13.000001] " + line +
                "\n[  14.000001] audit: type=1300 cmd=\"" + line +
                "\"\n{\"_TRANSPORT\":\"stdout\",\"SYSLOG_IDENTIFIER\":\"python3\",\"MESSAGE\":\"x\"}\n";
            const LogSummary summary = scan(quoted);
            EXPECT_EQ(summary.verdict(), Verdict::pass) << one.code << "\n" << codes(summary);
            EXPECT_EQ(summary.lines, 5U);
        }
    }
}

}  // namespace
}  // namespace gpucheck::host
