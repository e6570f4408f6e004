// What a sick driver library does to the process that calls it, whatever the call.
#pragma once

#include <string>

namespace fake {

/// hang, segv, abort, exit0, exit3, throw, flood, junk, noise (README.md): does it, and comes back only from
/// the last two. False: no such word, nothing done.
bool harm(const std::string& what);
/// Whether harm() knows the word.
bool is_harm(const std::string& what);

}  // namespace fake
