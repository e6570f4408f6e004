// Lines of a burn-in child as JSON and back.
#include "agent/burn_in_lines.h"

#include "checks/json/model_json.h"

namespace gpucheck {
namespace {

struct Words {
    std::string source, why;
    template <class Visit>
    static constexpr auto fields(Visit visit) {
        return visit(GPUCHECK_FIELD(Words, source), GPUCHECK_FIELD(Words, why));
    }
};

template <class T>
bool take(const Json& json, const char* name, std::optional<T>& value) {
    const auto found = json.find(name);
    if (found == json.end()) return true;
    std::string error;
    return from_json(*found, value.emplace(), error);
}

}  // namespace

std::string text_of(const BurnInLine& line) {
    Json json = Json::object();
    if (line.result) json["result"] = to_json(*line.result);
    if (line.about) json["about"] = to_json(*line.about);
    if (line.load) json["load"] = to_json(*line.load);
    if (line.stage) json["stage"] = to_json(*line.stage);
    if (line.missing) json["missing"] = to_json(Words{line.missing->source, line.missing->why});
    json["sender"] = line.sender;
    return dump_json(json, -1);
}

std::optional<BurnInLine> parse_burn_in_line(std::string_view text) {
    const auto parsed = parse_json(text);
    const Json* json = std::get_if<Json>(&parsed);
    if (json == nullptr || !json->is_object()) return std::nullopt;
    BurnInLine line;
    std::optional<Words> words;
    std::optional<std::uint64_t> sender;
    if (!take(*json, "result", line.result) || !take(*json, "about", line.about) ||
        !take(*json, "load", line.load) || !take(*json, "stage", line.stage) ||
        !take(*json, "missing", words) || !take(*json, "sender", sender))
        return std::nullopt;
    if (words) line.missing = Missing{words->source, words->why};
    line.sender = sender.value_or(0);
    return line;
}

}  // namespace gpucheck
