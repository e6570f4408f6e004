// What tests/loopback/serve answers, as JSON: see script.cpp for the format.
#pragma once

#include <string>
#include <variant>

#include "tests/loopback/loopback.h"

namespace gpucheck::loopback {

/// The text says what is wrong with the script.
std::variant<Handler, std::string> script(const std::string& text);

/// One request as a JSON line, newline included.
std::string line_of(const Seen& seen);

}  // namespace gpucheck::loopback
