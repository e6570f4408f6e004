// The report as one status line of a monitoring plugin (Monitoring Plugins Development Guidelines): Nagios
// reads the first line, of which it keeps 8 KiB, so the verdict comes first and the performance data always
// fits.
#include <algorithm>
#include <cstdio>

#include "agent/report/escape.h"
#include "agent/report/render.h"
#include "agent/report/words.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kMaxLine = 8192;
constexpr std::size_t kMostSubjects = 8;

std::string_view status_word(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass:
            return "OK";
        case Verdict::warn:
            return "WARNING";
        case Verdict::fail:
            return "CRITICAL";
        case Verdict::unknown:
        case Verdict::not_applicable:
            break;
    }
    return "UNKNOWN";
}

void measure(std::string& text, std::string_view name, const std::string& value) {
    text += (text.empty() ? "" : " ") + std::string(name) + "=" + value;
}

std::string performance(const Report& report, const View& view) {
    std::string text;
    const auto count = [&](std::string_view name, std::optional<unsigned> value) {
        if (value) measure(text, name, std::to_string(*value));
    };
    count("gpus_expected", view.count.expected);
    count("gpus_pci", view.count.pci);
    count("gpus_bound", view.count.bound);
    measure(text, "faults", std::to_string(view.fails));
    measure(text, "unknowns", std::to_string(view.unknowns));
    measure(text, "warnings", std::to_string(view.warns));
    measure(text, "not_checked", std::to_string(view.not_checked.size()));
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3fs", std::clamp(report.duration_s, 0.0, 1e9));
    measure(text, "duration", seconds);
    return text;
}

std::string problem_words(const Group& group) {
    const Problem& head = *group.head;
    std::string text = "; " + plain(head.code) + " on ";
    std::vector<std::string_view> subjects;
    for (const Case& one : group.cases)
        subjects.insert(subjects.end(), one.subjects.begin(), one.subjects.end());
    text += list_words(subjects, kMostSubjects);
    const Case& first = group.cases.front();
    if (!first.expected.empty() || !first.observed.empty()) {
        text += " (expected " + plain(first.expected) + ", observed " + plain(first.observed) + ")";
    }
    return text;
}

}  // namespace

std::string render_nagios(const Report& report) {
    const View view = view_of(report);
    const std::string data = " | " + performance(report, view) + "\n";
    std::string text = "GPUCHECK " + std::string(status_word(report.verdict)) + " - " +
                       machine_words(report) + ": " + count_words(view.count) + ", " +
                       summary_words(report, view);
    if (const std::string unlike = caveat(report); !unlike.empty()) text += " [" + unlike + "]";
    for (const Group& group : grouped(view.problems)) {
        text += problem_words(group);
        if (text.size() > kMaxLine) break;
    }
    std::replace(text.begin(), text.end(), '|', '/');  // would begin the performance data
    constexpr std::string_view kMore = " ...";
    if (text.size() + data.size() > kMaxLine) {
        std::size_t keep = kMaxLine - data.size() - kMore.size();
        while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xc0U) == 0x80U)
            --keep;  // not inside a character
        text.erase(keep);
        text += kMore;
    }
    return text + data;
}

}  // namespace gpucheck::report
