// A client whose every request goes to one loopback server, whatever host it is for: the real URL travels in
// a header.
#pragma once

#include "providers/http/http.h"
#include "tests/loopback/loopback.h"

namespace gpucheck {

class MovedClient final : public http::Client {
  public:
    MovedClient(const loopback::Server& server, std::string ca_file = {})
        : server_(server), ca_file_(std::move(ca_file)), client_(http::curl_client()) {}

    http::Outcome perform(const http::Request& request) override {
        http::Request moved = request;
        const std::size_t path = request.url.find('/', request.url.find("://") + 3);
        moved.url = server_.url(path == std::string::npos ? "/" : request.url.substr(path));
        moved.headers.push_back({"X-Asked", request.url});
        moved.ca_file = ca_file_;
        moved.proxy = http::Proxy::bypass;
        return client_->perform(moved);
    }

  private:
    const loopback::Server& server_;
    std::string ca_file_;
    std::unique_ptr<http::Client> client_;
};

}  // namespace gpucheck
