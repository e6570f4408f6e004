// Accepts, reads requests, lets the handler answer; see loopback.h.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "tests/loopback/answer.h"
#include "tests/loopback/certificates.h"
#include "tests/loopback/loopback.h"
#include "tests/loopback/stream.h"

namespace gpucheck::loopback {
namespace {

constexpr std::size_t kMaxHead = 1U << 20U;

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return out;
}

// "METHOD TARGET HTTP/1.1" and the headers.
std::optional<Seen> head_of(std::string_view head) {
    Seen seen;
    std::size_t line_end = head.find("\r\n");
    const std::string_view first = head.substr(0, line_end);
    const std::size_t one = first.find(' ');
    const std::size_t two = first.rfind(' ');
    if (one == std::string_view::npos || two <= one) return std::nullopt;
    seen.method = first.substr(0, one);
    seen.target = first.substr(one + 1, two - one - 1);
    while (line_end != std::string_view::npos) {
        head.remove_prefix(line_end + 2);
        line_end = head.find("\r\n");
        const std::string_view line = head.substr(0, line_end);
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        seen.headers.push_back({lowered(line.substr(0, colon)), std::string(value)});
    }
    return seen;
}

// The next request; `pending` keeps what belongs to the one after.
std::optional<Seen> next_request(Stream& stream, std::string& pending) {
    std::size_t end = pending.find("\r\n\r\n");
    while (end == std::string::npos) {
        if (pending.size() > kMaxHead || !stream.read(pending)) return std::nullopt;
        if (pending.front() == '\x16') return std::nullopt;  // a client that speaks TLS to a plain server
        end = pending.find("\r\n\r\n");
    }
    auto seen = head_of(std::string_view(pending).substr(0, end));
    if (!seen) return std::nullopt;
    const std::size_t bytes = std::strtoull(seen->header("content-length").c_str(), nullptr, 10);
    if (lowered(seen->header("expect")) == "100-continue") stream.write("HTTP/1.1 100 Continue\r\n\r\n");
    while (pending.size() < end + 4 + bytes) {
        if (!stream.read(pending)) return std::nullopt;
    }
    seen->body = pending.substr(end + 4, bytes);
    pending.erase(0, end + 4 + bytes);
    return seen;
}

int listen_on(bool ipv6, unsigned& port) {
    const int listener = ::socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    auto& four = reinterpret_cast<sockaddr_in&>(address);
    auto& six = reinterpret_cast<sockaddr_in6&>(address);
    if (ipv6) {
        six.sin6_family = AF_INET6;
        six.sin6_addr = in6addr_loopback;
        length = sizeof six;
    } else {
        four.sin_family = AF_INET;
        four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        length = sizeof four;
    }
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, plain, length) != 0 || ::listen(listener, 1024) != 0 ||
        ::getsockname(listener, plain, &length) != 0) {
        ::close(listener);
        return -1;
    }
    port = ntohs(ipv6 ? six.sin6_port : four.sin_port);
    return listener;
}

}  // namespace

std::string Seen::header(std::string_view name) const {
    for (const http::Header& header : headers) {
        if (header.name == name) return header.value;
    }
    return {};
}

struct Server::State {
    Handler handler;
    Options options;
    SSL_CTX* context = nullptr;
    int listener = -1;
    unsigned port = 0;
    std::atomic<bool> stopping{false};
    std::thread accepting;

    mutable std::mutex mutex;  // of all below
    std::condition_variable changed;
    std::set<int> open;
    std::vector<Seen> seen;
    unsigned connections = 0;

    std::mutex handling;

    void serve(int descriptor, unsigned number) {
        Stream stream(descriptor, context);
        std::string pending;
        while (stream.open() && !stopping) {
            auto request = next_request(stream, pending);
            if (!request) break;
            request->connection = number;
            Reply reply;
            {
                const std::lock_guard lock(handling);
                reply = handler(*request);
            }
            if (options.remember) {
                const std::lock_guard lock(mutex);
                seen.push_back(*request);
            }
            if (!answer(stream, *request, reply, stopping)) break;
        }
        const std::lock_guard lock(mutex);  // the descriptor is closed after it has left the set
        open.erase(descriptor);
    }

    void accept_all() {
        while (!stopping) {
            const int descriptor = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (descriptor < 0) {
                if (stopping) return;
                std::this_thread::sleep_for(std::chrono::milliseconds(1));  // out of descriptors for now
                continue;
            }
            std::unique_lock lock(mutex);
            open.insert(descriptor);
            ++running;
            const unsigned number = ++connections;
            lock.unlock();
            std::thread([this, descriptor, number] {
                serve(descriptor, number);
                const std::lock_guard last(mutex);
                --running;
                changed.notify_all();
            }).detach();
        }
    }

    unsigned running = 0;
};

Server::Server(Handler handler, Options options) : state_(std::make_unique<State>()) {
    std::signal(SIGPIPE, SIG_IGN);  // TLS writes with write(2)
    state_->handler = std::move(handler);
    state_->options = options;
    if (options.tls != nullptr) state_->context = server_context(options.tls->keys(), options.certificate);
    state_->listener = listen_on(options.ipv6, state_->port);
    if (state_->listener >= 0) state_->accepting = std::thread([this] { state_->accept_all(); });
}

Server::Server(Reply reply, Options options)
    : Server([reply = std::move(reply)](const Seen&) { return reply; }, options) {}

Server::~Server() {
    state_->stopping = true;
    if (state_->listener >= 0) ::shutdown(state_->listener, SHUT_RDWR);
    if (state_->accepting.joinable()) state_->accepting.join();
    {
        std::unique_lock lock(state_->mutex);
        for (const int descriptor : state_->open) ::shutdown(descriptor, SHUT_RDWR);
        state_->changed.wait(lock, [this] { return state_->running == 0; });
    }
    if (state_->listener >= 0) ::close(state_->listener);
    SSL_CTX_free(state_->context);
}

unsigned Server::port() const {
    return state_->port;
}

std::string Server::url(std::string_view path) const {
    return std::string(state_->context != nullptr ? "https" : "http") + "://" +
           (state_->options.ipv6 ? "[::1]" : "127.0.0.1") + ":" + std::to_string(state_->port) +
           std::string(path);
}

std::vector<Seen> Server::seen() const {
    const std::lock_guard lock(state_->mutex);
    return state_->seen;
}

unsigned Server::connections() const {
    const std::lock_guard lock(state_->mutex);
    return state_->connections;
}

unsigned closed_port() {
    unsigned port = 0;
    ::close(listen_on(false, port));
    return port;
}

}  // namespace gpucheck::loopback
