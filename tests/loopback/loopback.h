// Servers on 127.0.0.1 that play metadata services and receivers, well-behaved and hostile, over TCP and TLS:
// what a network can do to a report or a token is found here and not in somebody's cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "providers/http/http.h"

namespace gpucheck::loopback {

/// One request as it arrived.
struct Seen {
    std::string method, target;         ///< target: path and query
    std::vector<http::Header> headers;  ///< names in lower case
    std::string body;
    unsigned connection = 0;  ///< 1 for the first one that was accepted
    /// The first such header or empty. `name` in lower case.
    std::string header(std::string_view name) const;
};

/// How an answer is given.
enum class Manner : std::uint8_t {
    proper,
    drip,          ///< a byte of the answer every `pause`
    endless,       ///< a chunked body that never ends (or ends after `bytes`, when given)
    length_high,   ///< Content-Length says `bytes` more than come; then closes
    length_junk,   ///< a Content-Length that is no number
    length_twice,  ///< two of them that contradict each other
    reset,         ///< RST after `bytes` bytes of the answer
    silent,        ///< takes the request and never answers
    close,         ///< closes without a byte
    bad_status,    ///< a first line that is none
    bad_chunk,     ///< a chunk whose length is no number
    headers,       ///< headers without end
};

struct Reply {
    int status = 200;
    std::vector<http::Header> headers = {};
    std::string body = {};
    Manner manner = Manner::proper;
    std::uint64_t bytes = 0;
    std::chrono::milliseconds pause{20};
    bool keep_alive = true;
};

/// Called for one request at a time, on the server's threads.
using Handler = std::function<Reply(const Seen&)>;

/// What a server shows over TLS.
enum class Certificate : std::uint8_t { good, expired, other_name };

/// A certificate authority made at this moment; its file lies in a temporary folder that goes with it.
class Authority {
  public:
    Authority();
    ~Authority();
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;
    const std::string& ca_file() const;  ///< PEM
    /// "sha256//BASE64" of the key that its servers use.
    std::string pin() const;

    struct Keys;
    const Keys& keys() const { return *keys_; }

  private:
    std::unique_ptr<Keys> keys_;
};

struct Options {
    const Authority* tls = nullptr;  ///< nullptr: plain HTTP; must outlive the server
    Certificate certificate = Certificate::good;
    bool ipv6 = false;     ///< on ::1 instead of 127.0.0.1
    bool remember = true;  ///< keep what was seen for seen()
};

/// Listens from construction to destruction, on a port that was free. A machine without the address (::1)
/// gives port 0.
class Server {
  public:
    explicit Server(Handler handler, Options options = {});
    /// The same reply to everything.
    explicit Server(Reply reply, Options options = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    unsigned port() const;
    /// "http://127.0.0.1:PORT" + path
    std::string url(std::string_view path = "/") const;
    std::vector<Seen> seen() const;
    unsigned connections() const;  ///< accepted so far

    struct State;

  private:
    std::unique_ptr<State> state_;
};

/// A port of 127.0.0.1 on which nobody listens.
unsigned closed_port();

}  // namespace gpucheck::loopback
