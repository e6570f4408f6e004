// The report as one page to attach to a ticket: no script, nothing fetched, readable in the dark and on
// paper.
#include "agent/report/escape.h"
#include "agent/report/gpu_rows.h"
#include "agent/report/render.h"
#include "agent/report/words.h"

namespace gpucheck::report {
namespace {

constexpr std::size_t kMostSubjects = 64;

// Colours keep a contrast of 4.5:1 on both grounds (WCAG 2.1, 1.4.3); the word always stands beside the
// colour.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--line:#c9d1d9;--pass:#116329;--warn:#7d4e00;--fail:#b3161b;--unknown:#0a4f8a}
@media (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--line:#3d444d;--pass:#56d364;--warn:#e3b341;--fail:#ff7b72;--unknown:#79c0ff}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:2rem auto;max-width:70rem;padding:0 1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{border-bottom:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}
dt{font-weight:600}dd{margin:0 0 .4rem 1rem;overflow-wrap:anywhere}code{overflow-wrap:anywhere}.scroll{overflow-x:auto}
article{border-left:4px solid;padding-left:1rem;margin:1rem 0}article>*{color:var(--fg)}article>h3{color:inherit}
.pass{color:var(--pass)}.warn{color:var(--warn)}.fail{color:var(--fail)}.unknown,.not_applicable{color:var(--unknown)}
@media print{body{margin:0;max-width:none}article,tr{break-inside:avoid}}
)";

std::string tag(std::string_view name, const std::string& content, std::string_view attributes = "") {
    return "<" + std::string(name) + (attributes.empty() ? "" : " " + std::string(attributes)) + ">" +
           content + "</" + std::string(name) + ">";
}

std::string verdict_class(Verdict verdict) {
    return "class=\"" + std::string(name_of(verdict)) + "\"";
}

std::string summary(const Report& report, const View& view) {
    std::string out =
        tag("h1", tag("span", std::string(shout(report.verdict)), verdict_class(report.verdict)) + ": " +
                      markup(machine_words(report))) +
        "\n";
    out += tag("p", markup(count_words(view.count) + "; " + summary_words(report, view) + ".")) + "\n";
    if (const std::string unlike = caveat(report); !unlike.empty()) {
        out += tag("p", tag("strong", "Not a live machine: " + markup(unlike) + ".")) + "\n";
    }
    if (const std::string nothing = looked_at(report); !nothing.empty())
        out += tag("p", markup(nothing)) + "\n";
    const std::string run = std::string(name_of(report.profile)) +
                            " profile: " + plural(view.applied, "check") + " applied, " +
                            std::to_string(view.passed) + " passed, " + report.created + ", report ";
    return out + tag("p", markup(run) + tag("code", markup(report.report_id, kLineBytes))) + "\n";
}

std::string gpu_table(const Report& report, const View& view) {
    if (report.snapshot.gpus.empty()) return {};
    std::string head, body;
    for (const std::string& name : gpu_header()) head += tag("th", markup(name), "scope=\"col\"");
    for (const GpuRow& row : gpu_rows(report, view, 64)) {
        const std::vector<std::string> texts = cells(row);
        std::string line = tag("th", markup(texts.front()), "scope=\"row\"");
        for (std::size_t i = 1; i + 1 < texts.size(); ++i) line += tag("td", markup(texts[i]));
        line += tag("td", texts.back(), verdict_class(row.verdict));
        body += tag("tr", line) + "\n";
    }
    const std::string note =
        some_link_rests(report, view)
            ? tag("p", "A link may rest at a lower generation while idle; it is judged under load.") + "\n"
            : std::string();
    return "<div class=\"scroll\">" +
           tag("table", tag("caption", "GPUs") + tag("thead", tag("tr", head)) + "\n" + tag("tbody", body)) +
           "</div>\n" + note;
}

std::string definition(std::string_view name, const std::string& escaped) {
    return escaped.empty() ? std::string() : tag("dt", std::string(name)) + tag("dd", escaped);
}

std::string group_html(const Group& group) {
    const Problem& head = *group.head;
    std::string out = tag("h3", std::string(shout(head.verdict)) + " " +
                                    tag("code", markup(head.code, kLineBytes)) + ": " + markup(group.title));
    std::string list;
    for (const Case& one : group.cases) {
        list += definition("Where", markup(list_words(one.subjects, kMostSubjects))) +
                definition("Expected", markup(one.expected)) + definition("Observed", markup(one.observed)) +
                definition("Read from", markup(one.source));
    }
    list += definition("Who can mend it", markup(scope_words(head.scope)));
    list += definition("Next step", markup(action_words(head.action())));
    list += definition("Remedy", markup(head.remedy()));
    return tag("article", out + tag("dl", list), verdict_class(head.verdict)) + "\n";
}

std::string wrong(const View& view) {
    if (view.problems.empty()) return {};
    std::string out = tag("h2", "What is wrong") + "\n";
    for (const Group& group : grouped(view.problems)) out += group_html(group);
    return out;
}

std::string not_checked(const View& view) {
    std::string out = tag("h2", "Not checked") + "\n";
    if (view.not_checked.empty()) return out + tag("p", "Nothing was left out.") + "\n";
    std::string list;
    for (const NotChecked& item : view.not_checked) {
        const std::string subject = item.subject.empty() ? "" : " on " + markup(item.subject, kLineBytes);
        list +=
            tag("li", tag("code", markup(item.check, kLineBytes)) + subject + ": " + markup(item.reason)) +
            "\n";
    }
    return out + tag("ul", list) + "\n";
}

}  // namespace

std::string render_html(const Report& report) {
    const View view = view_of(report);
    const std::string title = markup(headline(report, view), kLineBytes);
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\">\n" +
           tag("title", title) + "\n" + tag("style", std::string(kStyle)) + "\n</head>\n<body>\n<main>\n" +
           summary(report, view) + gpu_table(report, view) + wrong(view) + not_checked(view) +
           tag("p", "gpucheck " + markup(report.tool_version, kLineBytes)) + "\n</main>\n</body>\n</html>\n";
}

}  // namespace gpucheck::report
