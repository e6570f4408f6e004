// What a child does before it calls a vendor's code, so that nothing this code does reaches further than
// itself.
#pragma once

#include <sys/types.h>

namespace gpucheck::child {

/// Own process group, dead with `parent`, default signals, no core dump, first in line when memory runs out,
/// standard input and output on /dev/null, and of all other descriptors only `answers`, as the descriptor
/// that is returned. On failure it is -1 with errno.
int isolate(pid_t parent, int answers);

}  // namespace gpucheck::child
