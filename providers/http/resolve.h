// Names into addresses within a time limit: getaddrinfo(3) has none, and a dead name server holds it for 10 s
// or more, five times what a run may wait for the network.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "providers/http/http.h"

namespace gpucheck::http {

/// The addresses of a host name as text, in the system's order of preference. Failed: `dns` when there is
/// none, `timeout` when nobody answered in time; the thread that waits for it is then left behind.
std::variant<std::vector<std::string>, Failed> resolve(const std::string& host,
                                                       std::chrono::milliseconds limit);

/// "192.0.2.1" or "2001:db8::1", without brackets.
bool is_address(const std::string& host);

}  // namespace gpucheck::http
