// Tells reports, condensed reports and envelopes apart, and reads each; see document.h.
#include "fleet/read/document.h"

#include "fleet/model/read.h"
#include "fleet/read/condensed.h"
#include "fleet/read/report.h"
#include "fleet/read/splitter.h"

namespace gpucheck::fleet {
namespace {

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kFirstBytes = std::size_t{64} << 10U;  // most reports; the parser grows for others

bool has(dom::object object, std::string_view key) {
    return object.at_key(key).error() == simdjson::SUCCESS;
}

std::string why_not_json(simdjson::error_code error, std::string_view text) {
    switch (error) {
        case simdjson::EMPTY:
            return "is empty";
        case simdjson::DEPTH_ERROR:
            return "is nested deeper than " + std::to_string(kMostDepth) + " levels";
        case simdjson::UTF8_ERROR:
            return "is not valid UTF-8";
        case simdjson::NUMBER_ERROR:
            return "holds a number that is none or that no double holds";
        case simdjson::MEMALLOC:
        case simdjson::CAPACITY:
            return "needs more memory than there is";
        default:
            break;
    }
    if (text.find('\0') != std::string_view::npos) return "holds a NUL byte";
    return std::string("is not JSON: ") + simdjson::error_message(error);
}

}  // namespace

std::optional<dom::element> DocumentReader::parse(std::string_view text, Flaw& flaw) {
    if (parser_.capacity() == 0 && parser_.allocate(kFirstBytes, kMostDepth) != simdjson::SUCCESS) {
        flaw.say("needs more memory than there is");
        return std::nullopt;
    }
    dom::element document;
    const simdjson::error_code error = parser_.parse(text.data(), text.size(), true).get(document);
    was_json_ = error == simdjson::SUCCESS;
    if (error != simdjson::SUCCESS) {
        flaw.say(why_not_json(error, text));
        return std::nullopt;
    }
    return document;
}

NodeReport DocumentReader::read_parsed(dom::element document, std::string_view text, Vocabulary& names,
                                       Flaw& flaw) {
    dom::object object;
    if (document.get(object) != simdjson::SUCCESS) {
        flaw.say("is not a JSON object");
        return {};
    }
    if (has(object, kCondensedKey)) {
        NodeReport report = condensed_from(document, names, flaw);
        if (keys_ != nullptr) report.verified = false;
        return report;
    }
    if (has(object, "schema_version")) return report_from(document, names, flaw);
    if (has(object, kSummaryKey)) {
        flaw.say("is a summary whose first member is not \"" + std::string(kSummaryKey) +
                 "\": something sorted it");
        return {};
    }
    if (!has(object, "payloadType") || !has(object, "payload")) {
        flaw.say("is neither a report nor a signed one: it has no schema_version");
        return {};
    }
    static const Keys kNone;
    const Opened opened = open_signed(text, keys_ != nullptr ? *keys_ : kNone, flaw);
    if (flaw) return {};
    const auto inner = parse(opened.payload, flaw);
    if (!inner) return {};
    NodeReport report = report_from(*inner, names, flaw);
    report.verified = opened.verified;
    return report;
}

std::optional<std::string> DocumentReader::read(Fleet& fleet, std::string_view text, std::string_view where) {
    Flaw flaw;
    if (const auto document = parse(text, flaw)) {
        NodeReport report = read_parsed(*document, text, fleet.names, flaw);
        if (report.where.empty()) report.where = where;
        if (!flaw) fleet.reports.push_back(std::move(report));
    }
    return flaw ? std::optional(flaw.what()) : std::nullopt;
}

std::optional<std::string> DocumentReader::read_rejected(Fleet& fleet, std::string_view text) {
    static constexpr std::array<std::string_view, 5> kNames{"where", "why", "shares_an_id", "inputs",
                                                            "missing"};
    Flaw flaw;
    const auto document = parse(text, flaw);
    if (!document) return flaw.what();
    const Place place{nullptr, "rejected"};
    const Members members(*document, kNames, place, flaw);
    Rejected row{std::string(members.text(0, 4 * kPathBytes)), std::string(members.text(1, 4 * kPathBytes))};
    if (members.given(3)) row.inputs = static_cast<std::size_t>(members.count_or_null(3));
    if (members.given(4)) row.missing = members.flag(4);
    if (flaw) return flaw.what();
    // Reports that share an id are in "conflicting": settle finds that out again.
    if (!members.given(2)) fleet.rejected.push_back(std::move(row));
    return std::nullopt;
}

std::optional<std::string> add_document(Fleet& fleet, std::string_view text, const ReadOptions& options) {
    Keys keys;
    if (!options.keys_folder.empty()) {
        auto loaded = load_keys(options.keys_folder);
        if (auto* error = std::get_if<std::string>(&loaded)) return std::move(*error);
        keys = std::get<Keys>(std::move(loaded));
    }
    DocumentReader reader(options.keys_folder.empty() ? nullptr : &keys);
    const std::size_t most = options.max_report_bytes;
    if (!is_summary(text)) {
        if (text.size() > most) return "is larger than " + std::to_string(most >> 20U) + " MiB";
        return reader.read(fleet, text, "");
    }
    std::optional<std::string> error;
    Splitter splitter(most, [&](const Piece& piece) {
        std::optional<std::string> why;
        if (piece.kind == Piece::Kind::broken) {
            why = piece.text;
        } else if (piece.kind == Piece::Kind::rejected) {
            why = reader.read_rejected(fleet, piece.text);
        } else {
            why = reader.read(fleet, piece.text, "");
        }
        if (why && !error) error = "line " + std::to_string(piece.line) + " " + *why;
    });
    splitter.feed(text);
    splitter.finish();
    return error;
}

}  // namespace gpucheck::fleet
