// Bounded JSON parsing; see json.h.
#include "checks/json/json.h"

#include <algorithm>

namespace gpucheck {
namespace {

// Deepest nesting of brackets outside strings. The parser itself would accept any depth and a later recursive
// walk would then overflow the stack.
std::size_t depth_of(std::string_view text) {
    std::size_t depth = 0, deepest = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') ++i;
            if (c == '"') in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            deepest = std::max(deepest, ++depth);
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return deepest;
}

// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." -> "line 1, column 2: ..."
std::string plain(std::string message) {
    const std::size_t at = message.find("at line ");
    if (at != std::string::npos) message.erase(0, at + 3);
    return message;
}

}  // namespace

std::variant<Json, JsonError> parse_json(std::string_view text, std::size_t max_depth) {
    if (text.size() > kMaxJsonBytes) return JsonError{"larger than 64 MiB"};
    if (depth_of(text) > max_depth) {
        return JsonError{"nested deeper than " + std::to_string(max_depth) + " levels"};
    }
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
