// Bounded JSON parsing; see json.h.
#include "checks/json/json.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gpucheck {
namespace {

// What a document would cost: the deepest nesting of brackets outside strings (the parser accepts any depth
// and a later recursive walk would overflow the stack), and the key comparisons that its objects need (an
// ordered object looks for each new key among all earlier ones: a million keys would take minutes).
struct Cost {
    std::size_t depth = 0;
    std::uint64_t comparisons = 0;
};

Cost cost_of(std::string_view text, std::size_t max_depth) {
    Cost cost;
    std::vector<std::uint64_t> members;  // of each open bracket
    bool in_string = false;
    for (std::size_t i = 0; i < text.size() && cost.depth <= max_depth; ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            members.push_back(0);
            cost.depth = std::max(cost.depth, members.size());
        } else if ((c == ']' || c == '}') && !members.empty()) {
            members.pop_back();
        } else if (c == ':' && !members.empty()) {
            cost.comparisons += members.back()++;
        }
    }
    return cost;
}

// 6,000 members in one object, or any number in small ones; well under a second.
constexpr std::uint64_t kMaxComparisons = 20'000'000;

// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." -> "line 1, column 2: ..."
std::string plain(std::string message) {
    const std::size_t at = message.find("at line ");
    if (at != std::string::npos) message.erase(0, at + 3);
    return message;
}

}  // namespace

std::variant<Json, JsonError> parse_json(std::string_view text, std::size_t max_depth) {
    if (text.size() > kMaxJsonBytes) return JsonError{"larger than 64 MiB"};
    const Cost cost = cost_of(text, max_depth);
    if (cost.depth > max_depth)
        return JsonError{"nested deeper than " + std::to_string(max_depth) + " levels"};
    if (cost.comparisons > kMaxComparisons) return JsonError{"too many members in its objects"};
    try {
        return Json::parse(text.begin(), text.end());
    } catch (const std::exception& error) {
        return JsonError{plain(error.what())};
    }
}

std::string dump_json(const Json& value, int indent) {
    return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace gpucheck
