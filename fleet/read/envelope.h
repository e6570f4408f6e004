// DSSE envelopes at the rate of a fleet: providers/sign/dsse.h reads one in a millisecond, which a machine
// that sends one does not feel and a receiver of 2,000 a second does.
#pragma once

#include <string_view>
#include <variant>

#include "providers/sign/dsse.h"

namespace gpucheck::fleet {

/// As sign::open_envelope, except that members which nobody reads may name theirs twice.
std::variant<sign::Envelope, sign::Error> open_envelope(std::string_view json);

}  // namespace gpucheck::fleet
