// One way to show a fact in a table: a value, "-" for what the hardware does not have, "?" for what nobody
// could read. A "0" for either would be a lie.
#pragma once

#include <string>

#include "agent/report/escape.h"
#include "checks/model/fact.h"

namespace gpucheck::listing {

/// The interface itself says that this GPU has no such thing.
inline bool has_none(const std::string& why) {
    return why == "ENOENT" || why == "NOT_SUPPORTED" || why == "not available" ||
           why.starts_with("not in layout");
}

inline std::string unknown_cell(const std::string& why) {
    return has_none(why) ? "-" : "?";
}

template <class T, class Show>
std::string cell(const Fact<T>& fact, Show show) {
    return fact.known() ? report::plain(show(fact.value())) : unknown_cell(fact.why());
}
template <class T>
std::string number_cell(const Fact<T>& fact) {
    return cell(fact, [](T value) { return std::to_string(value); });
}
inline std::string text_cell(const Fact<std::string>& fact) {
    return cell(fact, [](const std::string& text) { return text.empty() ? std::string("none") : text; });
}

/// Nothing in it that anybody would read.
inline bool is_blank(const std::string& cell) {
    return cell.find_first_not_of("?-/ ") == std::string::npos;
}

}  // namespace gpucheck::listing
