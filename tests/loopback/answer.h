// Says one reply in its manner.
#pragma once

#include <atomic>

#include "tests/loopback/loopback.h"
#include "tests/loopback/stream.h"

namespace gpucheck::loopback {

/// False when the connection ends with it.
bool answer(Stream& stream, const Seen& seen, const Reply& reply, const std::atomic<bool>& stopping);

}  // namespace gpucheck::loopback
