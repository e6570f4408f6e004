// The report for a tired person: the verdict in words, the GPUs, what is wrong and what to do about it, and
// what nobody looked at. Five seconds must be enough to decide whether a $300k machine goes to work or back.
#include <algorithm>
#include <cstdio>

#include "agent/report/escape.h"
#include "agent/report/gpu_rows.h"
#include "agent/report/layout.h"
#include "agent/report/render.h"
#include "agent/report/words.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kMostSubjects = 8;
constexpr std::size_t kMostCases = 4;
constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kBoardColumn = 1, kDriverColumn = 2;  // of gpu_header()

std::string coloured(std::string text, Verdict verdict, bool colour) {
    if (!colour) return text;
    std::string_view code = "\x1b[1;36m";  // unknown: cyan, which is neither good nor bad
    if (verdict == Verdict::pass) code = "\x1b[1;32m";
    if (verdict == Verdict::warn) code = "\x1b[1;33m";
    if (verdict == Verdict::fail) code = "\x1b[1;31m";
    if (verdict == Verdict::not_applicable) code = "\x1b[2m";
    return std::string(code) + text + "\x1b[0m";
}

std::string heading(std::string_view text, bool colour) {
    return "\n" + (colour ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text)) + "\n";
}

// Colours the verdict that `line` begins or ends with; after layout, so that colour takes no column.
std::string with_colour(std::string line, Verdict verdict, bool at_end, bool colour) {
    const std::string_view word = shout(verdict);
    if (!colour || line.size() < word.size()) return line;
    const std::size_t at = at_end ? line.size() - word.size() : 0;
    if (std::string_view(line).substr(at, word.size()) != word) return line;
    return line.substr(0, at) + coloured(std::string(word), verdict, true) + line.substr(at + word.size());
}

std::string seconds(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, value < 10 ? "%.2f s" : "%.0f s", std::clamp(value, 0.0, 1e9));
    return buffer;
}

std::string first_lines(const Report& report, const View& view, const RenderOptions& options,
                        std::size_t width) {
    std::string out =
        with_colour(paragraph("", headline(report, view), width), report.verdict, false, options.colour);
    const std::string unlike = caveat(report);
    if (!unlike.empty()) out += paragraph("  ", "Not a live machine: " + unlike + ".", width);
    const std::string nothing = looked_at(report);
    if (!nothing.empty()) out += paragraph("  ", nothing, width);
    const std::string price = price_words(report.snapshot.instance);
    if (!price.empty()) out += paragraph("  ", price, width);
    std::string run = std::string(name_of(report.profile)) + " profile: " + plural(view.applied, "check") +
                      " applied, " + std::to_string(view.passed) + " passed, in " +
                      seconds(report.duration_s);
    if (!report.created.empty()) run += ", " + plain(report.created, 40);
    return out + paragraph("  ", run, width);
}

std::string gpu_table(const Report& report, const View& view, const RenderOptions& options,
                      std::size_t width) {
    if (report.snapshot.gpus.empty()) return {};
    Table table(gpu_header());
    const std::vector<GpuRow> rows = gpu_rows(report, view);
    for (const GpuRow& row : rows) table.add(cells(row));
    std::string common;
    for (const std::size_t column :
         {kBoardColumn, kDriverColumn}) {  // what all share needs no column where there is no room
        if (table.natural_width() <= width) break;
        if (const auto cell = table.take_common(column))
            common += (common.empty() ? "" : ", driver ") + *cell;
    }
    const std::vector<std::string> lines = table.lines(width);
    std::string out = "\n" + (common.empty() ? "" : paragraph("All: ", common, width)) + lines.front() + "\n";
    for (std::size_t i = 0; i < rows.size(); ++i) {
        out += with_colour(lines[i + 1], rows[i].verdict, true, options.colour) + "\n";
    }
    if (some_link_rests(report, view)) {
        out += paragraph("", "A link may rest at a lower generation while idle; it is judged under load.",
                         width);
    }
    return out;
}

// "x8, expected x16 (current_link_width)".
std::string found_words(const Case& one) {
    std::string text = plain(one.observed);
    if (!one.expected.empty()) text += (text.empty() ? "expected " : ", expected ") + plain(one.expected);
    if (!one.source.empty()) text += (text.empty() ? "(" : " (") + plain(one.source) + ")";
    return text;
}

std::string case_lines(const Group& group, std::size_t gpus, std::size_t width) {
    std::string out;
    const std::size_t shown = std::min(group.cases.size(), kMostCases);
    for (std::size_t i = 0; i < shown; ++i) {
        const Case& one = group.cases[i];
        std::string where = list_words(one.subjects, kMostSubjects);
        if (one.subjects.size() > 1) where += " (" + std::to_string(one.subjects.size());
        if (one.subjects.size() > 1)
            where += one.subjects.size() == gpus ? ", as many as there are GPUs)" : ")";
        out += paragraph("  where  ", where, width);
        const std::string found = found_words(one);
        if (!found.empty()) out += paragraph("  found  ", found, width);
    }
    std::size_t told = 0;
    for (std::size_t i = 0; i < shown; ++i) told += group.cases[i].subjects.size();
    if (told < group.subjects) {
        out += "  and " + std::to_string(group.subjects - told) +
               " more that differ in detail: see --format json\n";
    }
    return out;
}

std::string what_to_do(const Problem& problem) {
    std::string text(action_words(problem.action()));
    if (!text.empty()) {
        text[0] = static_cast<char>(text[0] - ('a' - 'A'));
        text += ".";
    }
    if (!problem.remedy().empty()) text += (text.empty() ? "" : " ") + plain(problem.remedy(), kPageBytes);
    if (problem.row == nullptr)
        text = "This version of gpucheck has no advice for this code; keep the report.";
    return text;
}

std::string group_text(const Group& group, std::size_t gpus, const RenderOptions& options,
                       std::size_t width) {
    const Problem& head = *group.head;
    const std::string code = plain(head.code);
    std::string title = code + ": " + plain(group.title);
    const std::string word(shout(head.verdict));
    std::string out = with_colour(paragraph(word + "  ", title, width), head.verdict, false, options.colour);
    out += case_lines(group, gpus, width);
    if (group.count > group.subjects) {
        std::string seen = plural(group.count, "time");
        if (!group.first.empty()) seen += ", first " + plain(group.first, 40);
        if (!group.last.empty()) seen += ", last " + plain(group.last, 40);
        out += paragraph("  seen   ", seen, width);
    }
    out += paragraph("  who    ", scope_words(head.scope), width);
    const std::string advice = what_to_do(head);
    return advice.empty() ? out : out + paragraph("  do     ", advice, width);
}

std::string wrong(const View& view, std::size_t gpus, const RenderOptions& options, std::size_t width) {
    if (view.problems.empty()) return {};
    std::string out = heading("What is wrong", options.colour);
    bool first = true;
    for (const Group& group : grouped(view.problems)) {
        if (!first) out += "\n";
        first = false;
        out += group_text(group, gpus, options, width);
    }
    return out;
}

struct Silence {
    std::string reason;
    std::vector<std::string_view> what;
    std::string_view check, code;
    std::size_t subjects = 0;
};

// Checks that share a reason share a line, so that telemetry that nobody captured is one line and not thirty;
// one check that speaks of eight GPUs does so once.
std::vector<Silence> silences(const View& view) {
    std::vector<Silence> result;
    for (const NotChecked& item : view.not_checked) {
        auto found = std::find_if(result.begin(), result.end(), [&](const Silence& known) {
            return item.code.empty() ? known.code.empty() && known.reason == item.reason
                                     : known.code == item.code &&
                                           (known.check == item.check || known.reason == item.reason);
        });
        if (found == result.end()) {
            result.push_back({item.reason, {}, item.check, item.code, 0});
            found = result.end() - 1;
        }
        if (found->what.empty() || found->what.back() != item.check) found->what.push_back(item.check);
        if (found->check == item.check) ++found->subjects;
    }
    return result;
}

std::string not_checked(const View& view, const RenderOptions& options, std::size_t width) {
    std::string out = heading("Not checked", options.colour);
    if (view.not_checked.empty())
        return out + "  Nothing was left out: every check of this version applied and looked.\n";
    for (const Silence& silence : silences(view)) {
        std::string text = list_words(silence.what, silence.what.size()) + ": " + plain(silence.reason);
        if (!silence.code.empty() && silence.subjects > 1)
            text += ", and " + std::to_string(silence.subjects - 1) + " more";
        out += paragraph("  - ", text, width);
    }
    return out;
}

std::string last_line(const Report& report, const View& view, const RenderOptions& options,
                      std::size_t width) {
    std::string text = "Exit status " + std::to_string(exit_status(report.verdict, options.exit_map)) + ".";
    if (!view.problems.empty()) {
        text += " More: gpucheck explain " + plain(view.problems.front().code);
    } else {
        text += " More: gpucheck explain CODE";
    }
    text += ", --format json for every detail.";
    return "\n" + paragraph("", text, width);
}

}  // namespace

std::string render_text(const Report& report, const RenderOptions& options) {
    const std::size_t width = std::max(options.width, kNarrowest);
    const View view = view_of(report);
    return first_lines(report, view, options, width) + gpu_table(report, view, options, width) +
           wrong(view, report.snapshot.gpus.size(), options, width) + not_checked(view, options, width) +
           last_line(report, view, options, width);
}

}  // namespace gpucheck::report
