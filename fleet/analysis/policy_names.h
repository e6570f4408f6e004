// What a policy may name: a rule over a metric, a board or a code that does not exist never speaks, and a
// fleet that it should have rejected is accepted.
#pragma once

#include <string>
#include <string_view>

namespace gpucheck::fleet {

/// Why a policy that says `pattern` (a name, or one with a "*") means nothing, with the names that may be
/// meant; empty: it means something.
std::string wrong_metric(std::string_view pattern);
std::string wrong_code(std::string_view pattern);
std::string wrong_board(std::string_view key);
/// A time among the metrics: less of it is better, and "below" a bar is good.
bool names_a_time(std::string_view pattern);

}  // namespace gpucheck::fleet
