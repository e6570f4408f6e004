// Requests to metadata services and providers' APIs within one deadline: a service that is dead, slow or
// somebody else's costs a moment and a reason, never the run, and never a secret.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/json/json.h"
#include "checks/model/fact.h"
#include "providers/http/http.h"

namespace gpucheck::providers {

/// Where the services are; empty: where they really are.
struct Endpoints {
    std::string metadata;  ///< "http://127.0.0.1:8080" instead of every link-local service
    std::string api;       ///< the same for the providers' public APIs
};

class Questions {
  public:
    using Clock = std::chrono::steady_clock;
    Questions(http::Client& client, Clock::time_point deadline, Endpoints endpoints);

    /// A link-local service's address by its real URL ("http://169.254.169.254/...").
    std::string metadata_url(std::string_view url) const { return moved(url, endpoints_.metadata); }
    /// A public API's.
    std::string api_url(std::string_view url) const { return moved(url, endpoints_.api); }

    /// The whole answer of a 200. Missing: the URL, and what went wrong in words that tell the cases apart.
    /// Busy answers (429, 500, 503) are asked for again while time is left. No try takes longer than the
    /// request's own total_timeout.
    std::variant<http::Response, Missing> ask(http::Request request);
    /// The same as text (trimmed, at most 256 printable characters), or parsed.
    Fact<std::string> text(http::Request request);
    Fact<Json> json(http::Request request);

    std::chrono::milliseconds left() const;
    /// At most this part of the time that is left goes into each of the next requests; 1: all.
    void spend_at_most(double part) { part_ = part; }

  private:
    static std::string moved(std::string_view url, const std::string& base);

    http::Client& client_;
    Clock::time_point deadline_;
    Endpoints endpoints_;
    double part_ = 1;
};

/// A GET with these headers, of two seconds at most.
http::Request get(std::string url, std::vector<http::Header> headers = {});

/// A member as short printable text, whether it was written as text or number; Missing when it is null,
/// empty, absent, too long or holds control characters. A list of one object counts as the object.
Fact<std::string> text_in(const Fact<Json>& document, std::string_view member);
Fact<std::string> text_in(const Json& object, std::string_view member, const std::string& source);
/// The object that is this member, or a Missing.
Fact<Json> object_in(const Fact<Json>& document, std::string_view member);
/// What follows the last slash: "projects/1/zones/us-central1-a".
Fact<std::string> last_part(const Fact<std::string>& path);

/// Overwrites before the memory is given back: answers hold keys of the instance.
void wipe(std::string& text);

}  // namespace gpucheck::providers
