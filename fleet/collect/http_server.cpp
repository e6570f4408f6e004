// The listening side and TLS; see http.h.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <thread>

#include "fleet/collect/http_session.h"

namespace gpucheck::fleet::collect {

using net::ip::tcp;

struct HttpServer::Inside {
    Inside(HttpHandler& handler, const HttpLimits& limits) : all(handler, limits) {}

    void accept() {
        acceptor.async_accept(net::make_strand(io), [this](beast::error_code error, tcp::socket socket) {
            if (all.stopping) return;
            if (!error) {
                take(std::move(socket));
            } else if (error == net::error::no_descriptors || error == net::error::no_memory ||
                       error == net::error::no_buffer_space) {
                all.evict_one();
                pause.expires_after(std::chrono::milliseconds(20));
                return pause.async_wait([this](beast::error_code stopped) {
                    if (!stopped) accept();
                });
            } else if (error == net::error::operation_aborted || error == net::error::bad_descriptor) {
                return;
            }
            accept();
        });
    }

    void take(tcp::socket socket) {
        beast::error_code error;
        const auto peer = socket.remote_endpoint(error);
        if (error) return;  // gone already
        all.accepted += 1;
        // Nobody waits: all work, and one more would only slow them.
        if (all.open() >= all.limits.max_connections && !all.evict_one()) return;
        socket.set_option(tcp::no_delay(true), error);
        TlsContext context;
        {
            const std::lock_guard guard(lock);
            context = tls;
        }
        if (context) {
            TlsStream stream(std::move(socket), *context);
            std::make_shared<Session<TlsStream>>(all, std::move(stream), context, peer.address())->begin();
        } else {
            std::make_shared<Session<PlainStream>>(all, PlainStream(std::move(socket)), nullptr,
                                                   peer.address())
                ->begin();
        }
    }

    void tick(const std::shared_ptr<net::steady_timer>& timer, std::chrono::milliseconds delay,
              const std::function<void()>& what) {
        timer->expires_after(delay);
        timer->async_wait([this, timer, delay, what](beast::error_code error) {
            if (error || all.stopping) return;
            what();
            tick(timer, delay, what);
        });
    }

    // A failed allocation in one session must not end the others.
    void work() {
        while (!io.stopped()) {
            try {
                io.run();
            } catch (const std::exception&) {
                all.evict_one();
            }
        }
    }

    // Before io: sessions that io still holds at its end take themselves off the list.
    Connections all;
    std::mutex lock;
    TlsContext tls;
    net::io_context io;
    tcp::acceptor acceptor{io};
    net::steady_timer pause{io};
    net::executor_work_guard<net::io_context::executor_type> busy{io.get_executor()};
    std::vector<std::thread> threads;
};

HttpServer::HttpServer(HttpHandler& handler, const HttpLimits& limits)
    : inside_(std::make_unique<Inside>(handler, limits)) {}

HttpServer::~HttpServer() {
    stop(std::chrono::milliseconds(0));
}

std::variant<HttpServer::TlsReady, std::string> HttpServer::read_tls(const std::string& certificate,
                                                                     const std::string& key) {
    namespace ssl = net::ssl;
    auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
    beast::error_code error;
    const auto failed = [&](const std::string& file) {
        return error ? std::optional(file + ": " + error.message()) : std::nullopt;
    };
    context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                             ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION,
                         error);
    if (auto why = failed("TLS")) return *std::move(why);
    SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
    // A key with a passphrase must not make OpenSSL ask on the terminal.
    context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); },
                                   error);
    context->use_certificate_chain_file(certificate, error);
    if (auto why = failed(certificate)) return *std::move(why);
    context->use_private_key_file(key, ssl::context::pem, error);
    if (auto why = failed(key)) return *std::move(why);
    if (SSL_CTX_check_private_key(context->native_handle()) != 1)
        return key + ": not the key of " + certificate;
    return TlsReady([this, context] {
        const std::lock_guard guard(inside_->lock);
        inside_->tls = context;
    });
}

std::optional<std::string> HttpServer::listen(const std::string& address, std::uint16_t port) {
    beast::error_code error;
    const std::string where = address + " port " + std::to_string(port) + ": ";
    const auto ip = net::ip::make_address(address, error);
    if (error) return where + "not an IP address";
    const tcp::endpoint endpoint(ip, port);
    auto& acceptor = inside_->acceptor;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(1024, error);
    if (error) return where + error.message();
    return std::nullopt;
}

std::uint16_t HttpServer::port() const {
    beast::error_code error;
    return inside_->acceptor.local_endpoint(error).port();
}

void HttpServer::start(unsigned threads) {
    inside_->accept();
    for (unsigned i = 0; i < threads; ++i) inside_->threads.emplace_back([this] { inside_->work(); });
}

void HttpServer::every(std::chrono::milliseconds delay, std::function<void()> what) {
    inside_->tick(std::make_shared<net::steady_timer>(inside_->io), delay, what);
}

void HttpServer::stop(std::chrono::milliseconds most) {
    if (inside_->threads.empty()) return;
    inside_->all.stopping = true;
    net::post(inside_->io, [this] {
        beast::error_code ignored;
        inside_->acceptor.close(ignored);
    });
    inside_->all.evict_all();
    inside_->all.wait_until_none(most);
    inside_->io.stop();
    for (std::thread& thread : inside_->threads) thread.join();
    inside_->threads.clear();
}

HttpNumbers HttpServer::numbers() const {
    const auto& all = inside_->all;
    return {all.open(), all.accepted, all.evicted, all.timed_out};
}

}  // namespace gpucheck::fleet::collect
