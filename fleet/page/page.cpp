// The page put together: what decides stands in plain HTML and is there even where no script runs.
#include "fleet/page/page.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "agent/report/escape.h"
#include "agent/report/words.h"
#include "fleet/page/data.h"
#include "fleet/page/embedded.h"

namespace gpucheck::fleet {
namespace {

using report::markup;

struct DecisionWords {
    Decision decision;
    std::string_view name, shown, glyph;
};
// The glyphs stand beside the words, so that no colour is the only sign.
constexpr std::array kDecisions{
    DecisionWords{Decision::reject, "reject", "Reject", "\xe2\x9c\x95"},
    DecisionWords{Decision::quarantine, "quarantine", "Quarantine", "\xe2\x80\x96"},
    DecisionWords{Decision::no_evidence, "no_evidence", "Not enough evidence", "?"},
    DecisionWords{Decision::accept, "accept", "Accept", "\xe2\x9c\x93"},
};

const DecisionWords& words_of(Decision decision) {
    for (const DecisionWords& words : kDecisions) {
        if (words.decision == decision) return words;
    }
    return kDecisions[2];
}

// "31,880 GPUs", as the page's own script writes numbers.
std::string grouped(std::string text, std::size_t count) {
    for (std::size_t at = std::to_string(count).size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

std::string counted(std::size_t count, std::string_view noun) {
    return grouped(report::plural(count, noun), count);
}

std::string why(const Analysis& analysis) {
    std::string out = "<ul class=\"why\">";
    for (const std::string& sentence : analysis.why) out += "<li>" + markup(sentence) + "</li>";
    return analysis.why.empty() ? "" : out + "</ul>";
}

// Buttons that filter; without a script they are the numbers.
std::string counts(const Analysis& analysis) {
    std::string out;
    for (const DecisionWords& words : kDecisions) {
        const auto found = analysis.decisions.find(words.decision);
        const std::size_t count = found == analysis.decisions.end() ? 0 : found->second;
        out += "<button type=\"button\" class=\"count " + std::string(words.name) +
               "\" aria-pressed=\"false\" data-decision=\"" + std::string(words.name) +
               "\"><span class=\"glyph\" aria-hidden=\"true\">" + std::string(words.glyph) + "</span><b>" +
               grouped(std::to_string(count), count) + "</b> " + std::string(words.shown) + "</button>";
    }
    return out;
}

std::string facts(const Fleet& fleet, const Analysis& analysis, const PageOptions& options) {
    std::size_t gpus = 0;
    for (const NodeResult& node : analysis.nodes) gpus += report_of(fleet, node.report).gpus.size();
    std::vector<std::string> parts{counted(analysis.nodes.size(), "node"), counted(gpus, "GPU"),
                                   counted(fleet.reports.size(), "report"),
                                   counted(analysis.groups.size(), "group")};
    if (!fleet.rejected.empty())
        parts.push_back("<a href=\"#unjudged\">" + counted(fleet.rejected.size(), "input") + " rejected</a>");
    if (!options.policy.empty()) parts.push_back("policy " + markup(options.policy));
    if (!options.baseline.empty()) parts.push_back("baseline of " + markup(options.baseline));
    if (!options.made.empty()) parts.push_back("made " + markup(options.made));
    std::string out;
    for (const std::string& part : parts) out += "<span>" + part + "</span>";
    return out;
}

std::string scripts() {
    std::string out;
    for (const Script& script : page_scripts()) {
        out += "<script>";
        out += script.text;
        out += "</script>\n";
    }
    return out;
}

// The page's script loads it again when nobody is reading; without a script the browser does, in any case.
std::string every(const PageOptions& options) {
    return options.refresh_seconds == 0 ? ""
                                        : " data-refresh=\"" + std::to_string(options.refresh_seconds) + "\"";
}

std::string refresh(const PageOptions& options) {
    if (options.refresh_seconds == 0) return {};
    return "<noscript><meta http-equiv=\"refresh\" content=\"" + std::to_string(options.refresh_seconds) +
           "\"></noscript>\n";
}

// Puts each {{name}} of our own template in place, once: what was put in is not looked at again.
std::string filled(std::string_view text, const std::function<std::string(std::string_view)>& value) {
    std::string out;
    for (;;) {
        const std::size_t open = text.find("{{");
        const std::size_t close = open == text.npos ? text.npos : text.find("}}", open);
        if (close == text.npos) return out += text;
        out += text.substr(0, open);
        out += value(text.substr(open + 2, close - open - 2));
        text.remove_prefix(close + 2);
    }
}

}  // namespace

std::string page_policy() {
    std::string scripts;
    for (const Script& script : page_scripts()) scripts += " 'sha256-" + std::string(script.sha256) + "'";
    return "default-src 'none'; script-src" + scripts + "; style-src 'sha256-" +
           std::string(page_style().sha256) + "'; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string page(const Fleet& fleet, const Analysis& analysis, const PageOptions& options) {
    const DecisionWords& words = words_of(analysis.decision);
    return filled(page_shell(), [&](std::string_view name) -> std::string {
        if (name == "policy") return page_policy();
        if (name == "every") return every(options);
        if (name == "refresh") return refresh(options);
        if (name == "title") return std::string(words.shown) + ": " + markup(options.title);
        if (name == "title_text") return markup(options.title);
        if (name == "style") return std::string(page_style().text);
        if (name == "decision_class") return std::string(words.name);
        if (name == "glyph") return std::string(words.glyph);
        if (name == "decision") return std::string(words.shown);
        if (name == "why") return why(analysis);
        if (name == "counts") return counts(analysis);
        if (name == "facts") return facts(fleet, analysis, options);
        if (name == "data") return page_data(fleet, analysis, options);
        if (name == "scripts") return scripts();
        if (name == "footer")
            return page_has_charts() ? "Made by gpucheck fleet. Charts by Chart.js (MIT License)."
                                     : "Made by gpucheck fleet, built without Chart.js: the numbers stand in "
                                       "tables and are not drawn.";
        return {};
    });
}

}  // namespace gpucheck::fleet
