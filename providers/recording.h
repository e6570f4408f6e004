// Writes down what a metadata service answered, for `gpucheck capture`: only the members that a client reads,
// because the rest of such an answer are keys, user data and addresses.
#pragma once

#include <string>

#include "checks/json/json.h"
#include "providers/http/http.h"

namespace gpucheck::providers {

/// Passes requests on and keeps the answers as a metadata.json (docs/recorded-machines.md). Answers of
/// providers' public APIs are kept too; what a request was authorised with never is.
class Recorder final : public http::Client {
  public:
    explicit Recorder(http::Client& client) : client_(client) {}
    http::Outcome perform(const http::Request& request) override;
    /// The document so far.
    const Json& document() const { return document_; }

  private:
    http::Client& client_;
    Json document_ = Json::object();
};

/// The members of `document` that a client reads, at any depth; everything else is left out.
Json without_secrets(const Json& document);

}  // namespace gpucheck::providers
