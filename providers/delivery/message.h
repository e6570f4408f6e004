// A report as an HTTP request: CloudEvents 1.0 in binary mode, so that event routers take it as it is, and
// one key for all tries, so that a receiver that took it and died does not count it twice. docs/openapi.yaml
// is the receiver's side.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "providers/delivery/entry.h"
#include "providers/http/http.h"

namespace gpucheck::delivery {

inline constexpr std::string_view kEventType = "gpucheck.report.v1";
/// What a receiver that follows docs/openapi.yaml must take.
inline constexpr std::size_t kMostBodyBytes = std::size_t{16} << 20U;

/// The request for one try. `token` goes into Authorization when it is not empty.
http::Request request_of(const Entry& entry, std::string_view token, std::chrono::milliseconds most);

/// CloudEvents' source, a URI: "gpucheck://aws/i-0abc", "gpucheck:///HOSTNAME".
std::string source_uri(std::string_view provider, std::string_view instance_id, std::string_view hostname);

}  // namespace gpucheck::delivery
