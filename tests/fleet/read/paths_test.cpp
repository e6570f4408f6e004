// Paths: archives, folders with traps in them, streams that are cut off, and the order of all that.
#include <sys/stat.h>
#include <zlib.h>

#include <cstdlib>

#include "fleet/show/show.h"
#include "tests/fleet/read/samples.h"

namespace gpucheck::fleet {
namespace {

struct Result {
    Fleet fleet;
    std::string error;
};

Result read_all(const std::vector<std::string>& paths, ReadOptions options = {}) {
    Result result;
    result.error = read_paths(result.fleet, paths, options).value_or("");
    return result;
}

/// "path: why" of each row.
std::string rows(const Fleet& fleet) {
    std::string text;
    for (const Rejected& row : fleet.rejected) text += row.where + ": " + row.why + "\n";
    return text;
}

std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string out(compressBound(text.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

// Two threads read, each with a vocabulary of its own.
TEST(Paths, WhatHowAGpuIsCutIsCalledSurvivesTheJoining) {
    const Folder folder;
    for (int number = 0; number < 64; ++number) {
        Json report = sample_report(number);
        report["host"]["kernel"] = "6.8." + std::to_string(number);
        report["gpus"][0]["mig"] = true;
        report["gpus"][0]["mig_instances"] = number % 7 + 1;
        folder.write(std::to_string(number) + ".json", report.dump());
    }
    const Result result = read_all({folder.path()});
    ASSERT_EQ(result.fleet.reports.size(), 64U) << rows(result.fleet);
    for (const NodeReport& node : result.fleet.reports) {
        const std::string& kernel = result.fleet.names.text(node.kernel);
        const int number = std::stoi(kernel.substr(4));
        EXPECT_EQ(result.fleet.names.text(node.gpus[0].mode), "MIG " + std::to_string(number % 7 + 1));
    }
}

TEST(Paths, ManyFormsOfManyReports) {
    const Folder folder;
    folder.write("a/one.json", sample_report(1).dump(2));
    folder.write("a/deep/er/two.report", sample_report(2).dump());
    folder.write("three.jsonl", sample_report(3).dump() + "\n\n" + sample_report(4).dump() + "\r\n");
    folder.write("five.json.gz", gzip(sample_report(5).dump(2)));
    folder.write("six.jsonl.gz", gzip(sample_report(6).dump() + "\n") + gzip(sample_report(7).dump()));
    folder.write("pretty.json", sample_report(8).dump(2) + "\n" + sample_report(9).dump(1) + "\n");
    folder.write("bom.json", "\xef\xbb\xbf" + sample_report(10).dump());
    folder.write("README.md", "not a report");
    folder.write(".half-written.json", "{");
    const Result result = read_all({folder.path()});
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(rows(result.fleet), "");
    ASSERT_EQ(result.fleet.reports.size(), 10U);
    const auto has = [&](const std::string& where) {
        const auto& all = result.fleet.reports;
        return std::any_of(all.begin(), all.end(),
                           [&](const NodeReport& each) { return each.where == where; });
    };
    EXPECT_TRUE(has(folder / "three.jsonl:1"));
    EXPECT_TRUE(has(folder / "three.jsonl:3"));
    EXPECT_TRUE(has(folder / "a/one.json"));
}

TEST(Paths, WhatCannotBeReadIsARow) {
    const Folder folder;
    folder.write("good.json", sample_report(1).dump());
    folder.write("empty.json", "");
    folder.write("blank.json", " \n ");
    folder.write("cut.json", sample_report(2).dump().substr(0, 300));
    folder.write("cut.json.gz", gzip(sample_report(2).dump()).substr(0, 100));
    folder.write("damaged.json.gz", "\x1f\x8bnonsense");
    folder.write("bad.jsonl",
                 sample_report(3).dump() + "\nhello\n{\"a\":\n" + sample_report(4).dump() + "\n");
    folder.write("text.json", "hello");
    ASSERT_EQ(::mkfifo((folder / "pipe.json").c_str(), 0600), 0);
    std::filesystem::create_symlink(folder / "nowhere", folder / "dangling.json");
    std::filesystem::create_symlink("self.json", folder / "self.json");
    std::filesystem::create_symlink("/dev/zero", folder / "device.json");
    std::filesystem::create_directory_symlink(folder.path(), folder / "circle");
    const Result result = read_all({folder.path()});
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.fleet.reports.size(), 3U) << rows(result.fleet);
    const std::string told = rows(result.fleet);
    for (const char* row :
         {"empty.json: is empty", "blank.json: is empty", "cut.json:1: is cut off",
          "cut.json.gz:1: is gzip data that is cut off", "damaged.json.gz:1: is damaged gzip data",
          "bad.jsonl:2: is not a JSON object", "bad.jsonl:3: is cut off", "text.json:1: is not a JSON object",
          "pipe.json: is a pipe", "dangling.json: cannot be read: not there",
          "self.json: is a circle of links", "device.json: is a device", "circle: is a circle of links"}) {
        EXPECT_NE(told.find(row), std::string::npos) << row << "\nin\n" << told;
    }
    EXPECT_EQ(result.fleet.rejected.size(), 13U) << told;
}

TEST(Paths, UnreadableAndAbsent) {
    EXPECT_NE(read_all({"/nowhere/at/all"}).error.find("there is no such"), std::string::npos);
    const Folder folder;
    std::filesystem::create_directories(folder / "nothing");
    const Result nothing = read_all({folder / "nothing"});
    EXPECT_EQ(nothing.error, "");
    EXPECT_NE(rows(nothing.fleet).find("holds no report"), std::string::npos);
    const Result device = read_all({"/dev/null"});
    EXPECT_NE(rows(device.fleet).find("is a device"), std::string::npos);
    if (::geteuid() == 0) return;  // root may read everything
    folder.write("closed.json", sample_report(1).dump());
    ASSERT_EQ(::chmod((folder / "closed.json").c_str(), 0), 0);
    EXPECT_NE(rows(read_all({folder / "closed.json"}).fleet).find("no permission"), std::string::npos);
}

TEST(Paths, ABombIsNotReadToItsEnd) {
    const Folder folder;
    const std::string blanks(std::size_t{40} << 20U, ' ');
    folder.write("bomb.json.gz", gzip(blanks));
    folder.write("text.json.gz", gzip("{\"a\":\"" + std::string(std::size_t{12} << 20U, 'x') + "\"}\n" +
                                      sample_report(1).dump()));
    const Result result = read_all({folder.path()});
    EXPECT_EQ(result.fleet.reports.size(), 1U);
    EXPECT_NE(rows(result.fleet).find("thousandfold"), std::string::npos) << rows(result.fleet);
    EXPECT_NE(rows(result.fleet).find("larger than 8 MiB"), std::string::npos) << rows(result.fleet);
}

TEST(Paths, GarbageHasAnEnd) {
    const Folder folder;
    std::string lines, objects;
    for (int i = 0; i < 5000; ++i) lines += "x\n";
    for (int i = 0; i < 5000; ++i) objects += "{}\n";
    std::string opening;
    for (int i = 0; i < 20000; ++i) opening += "{\n";
    folder.write("lines.jsonl", lines);
    folder.write("objects.jsonl", objects);
    folder.write("opening.jsonl", opening);
    const Result result = read_all({folder.path()});
    EXPECT_LT(result.fleet.rejected.size(), 200U);
    const std::string told = rows(result.fleet);
    EXPECT_NE(told.find("lines.jsonl:100: and what follows was not read"), std::string::npos) << told;
    EXPECT_NE(told.find("objects.jsonl: 5000 documents of it were rejected, the first in line 1"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("too many documents are cut off"), std::string::npos) << told;
}

TEST(Paths, OneIdIsOneReport) {
    const Folder folder;
    folder.write("a.json", sample_report(1).dump());
    folder.write("b.json", sample_report(1).dump(4));
    Result same = read_all({folder / "b.json", folder / "a.json"});
    ASSERT_EQ(same.fleet.reports.size(), 1U);
    EXPECT_EQ(same.fleet.reports[0].where, folder / "a.json");
    EXPECT_EQ(rows(same.fleet), "");

    Json other = sample_report(1);
    other["gpus"][0]["measurements"]["bf16_tflops"] = 1;
    folder.write("c.json", other.dump());
    const Result differ = read_all({folder.path()});
    EXPECT_TRUE(differ.fleet.reports.empty());
    EXPECT_EQ(differ.fleet.conflicting.size(), 2U);
    const std::string told = rows(differ.fleet);
    EXPECT_NE(told.find(folder / "a.json" + ": has the report_id"), std::string::npos) << told;
    EXPECT_NE(told.find(folder / "c.json" + ": has the report_id"), std::string::npos) << told;
    EXPECT_NE(told.find("another report: " + folder / "c.json"), std::string::npos) << told;
}

TEST(Paths, MoreThanAsked) {
    const Folder folder;
    std::string lines;
    for (int i = 0; i < 20; ++i) lines += sample_report(i).dump() + "\n";
    folder.write("many.jsonl", lines);
    ReadOptions options;
    options.max_reports = 19;
    EXPECT_NE(read_all({folder.path()}, options).error.find("more than 19 reports"), std::string::npos);
    options.max_reports = 20;
    EXPECT_EQ(read_all({folder.path()}, options).error, "");
}

TEST(Labels, AreOfTheNodeOrItsKey) {
    const Folder folder;
    folder.write("r.jsonl",
                 sample_report(1).dump() + "\n" + sample_report(2).dump() + "\n" + sample_report(3).dump());
    folder.write("labels.csv", "node,rack,image\r\nnode-1,\"r1, left\",a\r\naws/i-2,r2,\r\n");
    ReadOptions options;
    options.labels_file = folder / "labels.csv";
    const Result result = read_all({folder / "r.jsonl"}, options);
    ASSERT_EQ(result.error, "");
    const Fleet& fleet = result.fleet;
    ASSERT_EQ(fleet.reports[0].labels.size(), 2U);
    EXPECT_EQ(fleet.names.text(fleet.reports[0].labels[1].second), "r1, left");
    ASSERT_EQ(fleet.reports[1].labels.size(), 1U);
    EXPECT_TRUE(fleet.reports[2].labels.empty());
    for (const char* bad : {"", "node\n", "node,rack,rack\n", "node,rack\na,1,2\n", "node,rack\n\"a,1\n",
                            "node,rack\na,1\na,2\n"}) {
        folder.write("labels.csv", bad);
        EXPECT_NE(read_all({folder / "r.jsonl"}, options).error, "") << bad;
    }
}

std::string json_of(const Fleet& fleet) {
    std::string out;
    summary_json(fleet, {}, {}, [&](std::string_view text) {
        out += text;
        return true;
    });
    return out;
}

TEST(Summaries, OfSummariesAreThoseOfTheWhole) {
    const Folder folder;
    for (int i = 0; i < 12; ++i)
        folder.write("r/" + std::to_string(i) + ".json", sample_report(i, 3000 + i).dump());
    folder.write("r/bad.json", "hello");
    folder.write("r/\x1b[2J\n\xff.json", "{\"payloadType\":\"\\u001b\",\"payload\":\"\",\"signatures\":[]}");
    folder.write("r/\n\xfe.json", sample_report(20).dump());
    Json conflict = sample_report(5, 1);
    folder.write("r/five.json", conflict.dump());
    folder.write("r/again.json", sample_report(7, 3007).dump());
    const std::string whole = json_of(read_all({folder / "r"}).fleet);
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "r"))
        files.push_back(entry.path().string());
    for (unsigned seed = 0; seed < 8; ++seed) {
        std::srand(seed);
        std::vector<std::string> parts[3];
        for (const std::string& file : files) parts[std::rand() % 3].push_back(file);
        std::vector<std::string> summaries;
        for (int i = 2; i >= 0; --i) {
            folder.write("s" + std::to_string(i) + ".json", json_of(read_all(parts[i]).fleet));
            summaries.push_back(folder / ("s" + std::to_string(i) + ".json"));
        }
        EXPECT_EQ(json_of(read_all(summaries).fleet), whole) << seed;
        summaries.push_back(folder / "r");
        EXPECT_EQ(json_of(read_all(summaries).fleet), whole) << seed;
    }
}

TEST(Summaries, KeepWhatSharesAnId) {
    const Folder folder;
    folder.write("r.jsonl", sample_report(1).dump() + "\n" + sample_report(1, 5).dump());
    const std::string good = json_of(read_all({folder / "r.jsonl"}).fleet);
    folder.write("s.json", good);
    EXPECT_EQ(json_of(read_all({folder / "s.json"}).fleet), good);
    Json spoiled = Json::parse(good);
    spoiled["conflicting"] = Json::array();
    for (int i = 0; i < 2; ++i) {
        folder.write("s.json", spoiled.dump());
        EXPECT_NE(rows(read_all({folder / "s.json"}).fleet).find("was cut or changed"), std::string::npos)
            << i;
        spoiled["counts"].erase("conflicting");
    }
}

TEST(Labels, OfNobodyAreSaid) {
    const Folder folder;
    folder.write("r.jsonl", sample_report(1).dump() + "\n" + sample_report(2).dump());
    const auto remarks = [&](const std::string& labels) {
        folder.write("labels.csv", labels);
        ReadOptions options;
        options.labels_file = folder / "labels.csv";
        Fleet fleet;
        EXPECT_FALSE(read_paths(fleet, {folder / "r.jsonl"}, options));
        return fleet.remarks;
    };
    EXPECT_EQ(remarks("node,rack\nnode-2,r7\nelsewhere,r8\n").size(), 0U);
    EXPECT_EQ(remarks("node,rack\naws/i-2,r7\n").size(), 0U);
    const auto told = remarks("node,rack\nelsewhere,r7\n");
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("names none of the nodes that were read, such as node-1"), std::string::npos)
        << told[0];
}

TEST(Summaries, AreReadOrRejectedWhole) {
    const Folder folder;
    folder.write("r.jsonl", sample_report(1).dump() + "\n" + sample_report(2).dump());
    const std::string good = json_of(read_all({folder / "r.jsonl"}).fleet);
    const auto told = [&](const std::string& text) {
        folder.write("s.json", text);
        const Fleet fleet = read_all({folder / "s.json"}).fleet;
        return std::to_string(fleet.reports.size()) + "\n" + rows(fleet);
    };
    EXPECT_EQ(told(good), "2\n");
    EXPECT_EQ(told(Json::parse(good).dump()), "2\n");
    EXPECT_EQ(told(Json::parse(good).dump(3)), "2\n");
    EXPECT_NE(told(good.substr(0, good.size() - 4)).find("a summary that is cut off after 2 items"),
              std::string::npos);
    Json spoiled = Json::parse(good);
    spoiled["reports"].push_back("text");
    EXPECT_NE(told(spoiled.dump()).find("no object"), std::string::npos);
    spoiled = Json::parse(good);
    spoiled.erase("reports");
    EXPECT_NE(told(spoiled.dump()).find("without its reports"), std::string::npos);
    spoiled = Json::parse(good);
    spoiled["gpucheck_summary"] = "2.0";
    EXPECT_NE(told(spoiled.dump()).find("version 2.0"), std::string::npos);
    spoiled = Json::parse(good);
    spoiled["reports"][0]["verdict"] = "splendid";
    EXPECT_NE(told(spoiled.dump()).find("verdict"), std::string::npos);
    const auto changed = [&](const char* place, const Json& value) {
        spoiled = Json::parse(good);
        spoiled[Json::json_pointer(place)] = value;
        return told(spoiled.dump());
    };
    EXPECT_NE(changed("/reports", Json::array()).find("it counts 2 reports and holds 0"), std::string::npos);
    EXPECT_NE(
        changed("/reports", Json::array({Json::parse(good)["reports"][0]})).find("2 reports and holds 1"),
        std::string::npos);
    for (const char* place :
         {"/counts/reports", "/counts/nodes", "/counts/rejected_inputs", "/counts/conflicting",
          "/counts/accept", "/counts/quarantine", "/counts/reject", "/counts/no_evidence"}) {
        EXPECT_NE(changed(place, 7).find("was cut or changed: it counts 7 "), std::string::npos) << place;
        EXPECT_NE(changed(place, -1).find("counts lack"), std::string::npos) << place;
        EXPECT_NE(changed(place, "2").find("counts lack"), std::string::npos) << place;
    }
    EXPECT_NE(
        changed("/nodes", Json::array({{{"node", "a"}, {"decision", "accept"}}})).find("counts 0 nodes"),
        std::string::npos);
    EXPECT_NE(changed("/rejected", Json::array({{{"where", "a"}, {"why", "b"}}})).find("holds 1"),
              std::string::npos);
    EXPECT_NE(changed("/counts", 3).find("without its counts"), std::string::npos);
    spoiled = Json::parse(good);
    spoiled.erase("counts");
    EXPECT_NE(told(spoiled.dump()).find("without its counts"), std::string::npos);
    spoiled = Json::parse(good);
    spoiled["counts"].erase("conflicting");
    EXPECT_EQ(told(spoiled.dump()), "2\n") << "an earlier gpucheck did not write it";
    std::string twice = good;
    twice.insert(twice.find("\"counts\""), "\"counts\":{\"reports\":0},");
    EXPECT_NE(told(twice).find("counts twice"), std::string::npos);
    const nlohmann::json sorted = nlohmann::json::parse(good);
    EXPECT_NE(told(sorted.dump()).find("something sorted it"), std::string::npos);
}

}  // namespace
}  // namespace gpucheck::fleet
