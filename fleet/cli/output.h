// Where a document goes: standard output, whose reader may leave, or a file that is written whole or not at
// all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "fleet/show/show.h"

namespace gpucheck::fleet {

/// On standard error.
void complain(std::string_view sentence);

/// Standard output is a terminal that shows colours, and NO_COLOR is not set.
bool colours();

/// Hands `write` a sink to `path`, or to standard output when it is empty or "-". kSoftware, after a sentence
/// on standard error, when that failed; else 0.
int deliver(const std::string& path, const std::function<void(const Sink&)>& write);

}  // namespace gpucheck::fleet
