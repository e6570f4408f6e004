// Writes condensed reports: every member of NodeReport that is not empty, floats so that they come back as
// they were.
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "agent/report/escape.h"
#include "fleet/model/read.h"
#include "fleet/read/condensed.h"

namespace gpucheck::fleet {
namespace {

void add_text(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (c < ' ' || c > '~' || c == '"' || c == '\\') return report::append_json(out, text);
    }
    out += '"';
    out += text;
    out += '"';
}

// The shortest digits that a reader of doubles turns into the same float.
void add_number(std::string& out, float value) {
    std::array<char, 64> digits{};
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    *end = '\0';
    const double back = std::strtod(digits.data(), nullptr);
    if (back > std::numeric_limits<float>::max() || static_cast<float>(back) != value)
        end = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<double>(value)).ptr;
    out.append(digits.data(), end);
}

class Line {
  public:
    Line(const Fleet& fleet, std::string& out) : names_(fleet.names), out_(out) {}
    void key(std::string_view name) {
        out_ += ",\"";
        out_ += name;
        out_ += "\":";
    }
    void text(std::string_view name, std::string_view value) {
        if (value.empty()) return;
        key(name);
        add_text(out_, value);
    }
    void text(std::string_view name, Name value) { text(name, names_.text(value)); }
    void flag(std::string_view name, bool value) {
        if (!value) return;
        key(name);
        out_ += "true";
    }
    void count(std::string_view name, int value) {
        if (value < 0) return;
        key(name);
        out_ += std::to_string(value);
    }
    void amount(std::string_view name, float value) {
        if (value == 0) return;
        key(name);
        add_number(out_, value);
    }
    /// A list of lists: `row` writes the cells of one.
    template <class Rows, class Write>
    void rows(std::string_view name, const Rows& rows, Write row) {
        if (rows.empty()) return;
        key(name);
        char before = '[';
        for (const auto& each : rows) {
            out_ += before;
            before = ',';
            out_ += '[';
            row(each);
            out_ += ']';
        }
        out_ += ']';
    }
    void cell(std::string_view text, bool first = false) {
        if (!first) out_ += ',';
        add_text(out_, text);
    }
    void cell(Name name, bool first = false) { cell(names_.text(name), first); }
    void cell(Verdict verdict) { cell(name_of(verdict)); }
    void cell(float value) {
        out_ += ',';
        add_number(out_, value);
    }
    void first(std::size_t value) { out_ += std::to_string(value); }
    void cell(int value) { out_ += ',' + std::to_string(value); }
    void raw(std::string_view text) { out_ += text; }

  private:
    const Vocabulary& names_;
    std::string& out_;
};

void write_gpu(Line& line, const Gpu& gpu) {
    line.cell(gpu.bdf, true);
    line.cell(gpu.board);
    line.cell(std::string_view(gpu.identity));
    line.cell(gpu.verdict);
    line.cell(gpu.firmware);
    for (const Value& value : gpu.values) {
        line.cell(value.metric);
        line.cell(value.value);
    }
}

bool says_more(const Gpu& gpu) {
    return gpu.mode != kNoName || gpu.memory_gib > 0 || gpu.link_width + gpu.link_generation != 0 ||
           gpu.link_generation_rest != 0;
}

}  // namespace

std::string condensed(const Fleet& fleet, const NodeReport& report) {
    std::string out;
    out.reserve(4096);
    Line line(fleet, out);
    out += "{\"";
    out += kCondensedKey;
    out += "\":\"";
    out += kCondensedVersion;
    out += '"';
    line.text("report_id", report.report_id);
    line.text("created", report.created);
    line.text("node", report.node);
    line.text("key", report.key);
    line.text("where", report.where);
    line.text("boot_id", report.boot_id);
    line.text("provider", report.provider);
    line.text("instance_type", report.instance_type);
    line.text("region", report.region);
    line.text("zone", report.zone);
    line.text("driver", report.driver);
    line.text("kernel", report.kernel);
    line.text("os", report.os);
    line.text("tool_version", report.tool_version);
    line.text("profile", report.profile);
    line.text("verdict", name_of(report.verdict));
    line.flag("simulated", report.simulated);
    line.flag("injected", report.injected);
    line.flag("verified", report.verified);
    line.count("gpus_expected", report.gpus_expected);
    line.count("gpus_found", report.gpus_found);
    line.count("gpus_bound", report.gpus_bound);
    line.amount("usd_per_hour", report.usd_per_hour);
    line.rows("labels", report.labels, [&](const auto& label) {
        line.cell(label.first, true);
        line.cell(label.second);
    });
    line.rows("gpus", report.gpus, [&](const Gpu& gpu) { write_gpu(line, gpu); });
    std::vector<std::size_t> known;
    for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
        if (says_more(report.gpus[gpu])) known.push_back(gpu);
    }
    line.rows("hardware", known, [&](std::size_t index) {
        const Gpu& gpu = report.gpus[index];
        line.first(index);
        line.cell(gpu.mode);
        line.cell(gpu.memory_gib);
        for (const std::uint8_t each : {gpu.link_width, gpu.link_generation, gpu.link_generation_rest})
            line.cell(static_cast<int>(each));
    });
    line.rows("problems", report.problems, [&](const Problem& problem) {
        line.cell(problem.code, true);
        line.cell(problem.check);
        line.cell(problem.verdict);
        line.cell(problem.scope);
        line.cell(problem.action);
        line.cell(problem.subject);
        line.cell(problem.gpu);
    });
    line.rows("checks", report.checks, [&](const CheckState& check) {
        line.cell(check.check, true);
        line.cell(check.verdict);
    });
    line.rows("costs", report.costs, [&](const CostRow& cost) {
        line.cell(cost.model, true);
        line.cell(cost.precision);
        line.cell(cost.concurrency);
        line.cell(cost.tokens_per_s);
        line.cell(cost.usd_per_m_output);
    });
    out += '}';
    return out;
}

}  // namespace gpucheck::fleet
