// HTTP/1.1 as a receiver needs it: every size and every time has a bound before anything is believed, and no
// connection costs a thread.
//
// Boost.Beast and not cpp-httplib: Debian 12's cpp-httplib 0.11.4 holds a thread for each connection, so that
// as many idle ones as it has threads silence it; keeps a header line of any length before it looks at its
// bound (cpp-httplib#2530), and any number of them; and times each read, not a request, so that a byte every
// four seconds holds a thread for ever.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gpucheck::fleet::collect {

/// Headers as they came; names in lower case.
struct HttpHead {
    std::string method, path, query;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string peer;  ///< address
    bool peer_is_loopback = false;
    std::size_t body_bytes = 0;  ///< as announced

    /// Empty where it was not sent. A header that must not be there twice was refused before.
    std::string_view header(std::string_view lower_case_name) const;
};

struct HttpAnswer {
    int status = 200;
    std::string content_type;
    std::shared_ptr<const std::string> body;  ///< nullptr: none
    std::vector<std::pair<std::string, std::string>> headers;
};

/// What a handler decides when it has seen the head: an answer without reading the body, or whom to give it.
struct Admission {
    std::optional<HttpAnswer> refused;
    std::shared_ptr<void> ticket;  ///< kept until the request is answered: memory that was set aside, a token
};

class HttpHandler {
  public:
    using Answer = std::function<void(HttpAnswer)>;
    virtual ~HttpHandler() = default;
    virtual Admission admit(const HttpHead& head) = 0;
    /// Sets memory aside for `bytes` of a body that have come, all together. False: there is no room.
    virtual bool reserve(const std::shared_ptr<void>& ticket, std::size_t bytes) = 0;
    /// Gives it back before the request is over: its connection is being closed.
    virtual void give_up(const std::shared_ptr<void>& ticket) = 0;
    /// `answer` is called once, on any thread, now or later.
    virtual void handle(HttpHead head, std::string body, const std::shared_ptr<void>& ticket,
                        Answer answer) = 0;
    /// For the counters: every answer that was sent, and 0 for a request that broke off.
    virtual void answered(int status) = 0;
};

struct HttpLimits {
    std::size_t max_connections = 4096;
    std::size_t max_head_bytes = 32768;
    std::size_t max_headers = 100;
    std::size_t max_body_bytes = std::size_t{16} << 20U;
    std::chrono::milliseconds head{10'000};   ///< from the first byte of a request, and for TLS's handshake
    std::chrono::milliseconds idle{75'000};   ///< between requests
    std::chrono::milliseconds body{10'000};   ///< and 4 s more for each MiB that was announced
    std::chrono::milliseconds write{30'000};  ///< an answer
    std::size_t max_requests_per_connection = 1'000'000;
};

struct HttpNumbers {
    std::size_t connections = 0;
    std::uint64_t accepted = 0, evicted = 0, timed_out = 0;
};

class HttpServer {
  public:
    HttpServer(HttpHandler& handler, const HttpLimits& limits);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// PEM files. What comes back puts them into force for new connections; the error is a sentence.
    using TlsReady = std::function<void()>;
    std::variant<TlsReady, std::string> read_tls(const std::string& certificate, const std::string& key);
    /// Begins to listen; `port` 0 takes a free one.
    std::optional<std::string> listen(const std::string& address, std::uint16_t port);
    std::uint16_t port() const;
    void start(unsigned threads);
    /// Calls `when` on one of its threads after `delay`, and again whenever that returns true.
    void every(std::chrono::milliseconds delay, std::function<void()> what);
    /// No new connection and no new request; what was accepted is finished, or cut off after `most`.
    void stop(std::chrono::milliseconds most);
    HttpNumbers numbers() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace gpucheck::fleet::collect
