// One connection: reads a request within its bounds, asks the handler, answers, and waits for the next one.
// Every step has a time by which it is over, whatever the other side does.
#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/optional.hpp>
#include <variant>

#include "fleet/collect/http_connections.h"

namespace gpucheck::fleet::collect {

namespace net = boost::asio;
namespace beast = boost::beast;
using Parser = beast::http::request_parser<beast::http::string_body>;
using TlsContext = std::shared_ptr<net::ssl::context>;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

/// The head of a request, or the answer to one that is refused before anybody is asked.
std::variant<HttpHead, HttpAnswer> head_of(const Parser& parser, const HttpLimits& limits);
HttpAnswer plain_refusal(int status, const std::string& detail);

template <class Stream>
class Session final : public Connection, public std::enable_shared_from_this<Session<Stream>> {
  public:
    Session(Connections& all, Stream stream, TlsContext tls, const net::ip::address& peer)
        : Connection(all, peer.to_string()), tls_(std::move(tls)), stream_(std::move(stream)), peer_(peer) {}

    void begin() {
        net::dispatch(stream_.get_executor(), [self = this->shared_from_this()] { self->greet(); });
    }
    void evict() override {
        net::post(stream_.get_executor(), [self = this->shared_from_this()] {
            if (self->waiting_ || self->reading_) self->close();
        });
    }

  private:
    static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
    using Error = beast::error_code;
    auto& lowest() { return beast::get_lowest_layer(stream_); }
    void close() {
        Error ignored;
        lowest().socket().close(ignored);
    }
    // Binds a member to this session's life.
    template <class Member>
    auto then(Member member) {
        return [self = this->shared_from_this(), member](Error error, auto... more) {
            if (error == beast::error::timeout) self->all_.timed_out += 1;
            (self.get()->*member)(error, more...);
        };
    }

    void greet() {
        waiting_ = true;
        all_.waits(this->shared_from_this());
        if constexpr (kTls) {
            lowest().expires_after(all_.limits.head);
            stream_.async_handshake(net::ssl::stream_base::server, then(&Session::greeted));
        } else {
            wait();
        }
    }
    void greeted(Error error) {
        if (!error) wait();
    }

    void wait() {
        if (all_.stopping) return close();
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(all_.limits.max_head_bytes));
        parser_->body_limit(UINT64_MAX);  // judged when the head is there, to be answered 413
        waiting_ = true;
        all_.waits(this->shared_from_this());
        if (buffer_.size() > 0) return read_head();
        lowest().expires_after(all_.limits.idle);
        constexpr std::size_t kFirst = 8192;
        stream_.async_read_some(buffer_.prepare(kFirst), then(&Session::began));
    }
    void began(Error error, std::size_t bytes) {
        if (error) return;
        buffer_.commit(bytes);
        read_head();
    }
    void read_head() {
        lowest().expires_after(all_.limits.head);
        beast::http::async_read_header(stream_, buffer_, *parser_, then(&Session::got_head));
    }
    void got_head(Error error, std::size_t) {
        namespace http = beast::http;
        if (error) {
            if (error == http::error::end_of_stream ||
                error.category() != make_error_code(http::error::bad_value).category())
                return close();
            waiting_ = false;
            all_.works(*this);
            close_after_ = true;
            const bool large = error == http::error::header_limit || error == http::error::buffer_overflow;
            return send(plain_refusal(large ? 431 : 400,
                                      large ? "the head is too large" : "not a request of HTTP/1.1"));
        }
        waiting_ = false;
        all_.works(*this);
        auto head = head_of(*parser_, all_.limits);
        keep_alive_ = parser_->get().keep_alive();
        if (auto* refused = std::get_if<HttpAnswer>(&head)) return refuse(std::move(*refused));
        head_ = std::move(*std::get_if<HttpHead>(&head));
        head_.peer = peer_.to_string();
        head_.peer_is_loopback = peer_.is_loopback();
        Admission admission = all_.handler.admit(head_);
        if (admission.refused) return refuse(*std::move(admission.refused));
        ticket_ = std::move(admission.ticket);
        if (head_.body_bytes == 0) return handle();
        reading_ = true;
        all_.reads(this->shared_from_this(), ticket_);
        constexpr std::size_t kPerMib = 4000;
        lowest().expires_after(all_.limits.body +
                               std::chrono::milliseconds(head_.body_bytes / (1024 * 1024 / kPerMib)));
        if (head_.header("expect").empty()) return read_body();
        static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        net::async_write(stream_, net::buffer(kContinue.data(), kContinue.size()), then(&Session::continued));
    }
    void continued(Error error, std::size_t) {
        if (error) return broke_off();
        read_body();
    }
    void read_body() {
        if (parser_->is_done()) return got_body({}, 0);
        beast::http::async_read_some(stream_, buffer_, *parser_, then(&Session::got_body));
    }
    void got_body(Error error, std::size_t) {
        if (error) return broke_off();
        if (!all_.has_read(*this, parser_->get().body().size())) {
            reading_ = false;
            all_.works(*this);
            HttpAnswer answer = plain_refusal(503, "too many reports at once");
            answer.headers.emplace_back("Retry-After", "5");
            return refuse(std::move(answer));
        }
        if (!parser_->is_done()) return read_body();
        reading_ = false;
        all_.works(*this);
        handle();
    }
    void broke_off() {
        reading_ = false;
        all_.works(*this);
        ticket_.reset();
        all_.handler.answered(0);
        close();
    }

    void handle() {
        std::string body = std::move(parser_->get().body());
        is_head_ = head_.method == "HEAD";
        all_.handler.handle(
            std::move(head_), std::move(body), ticket_, [self = this->shared_from_this()](HttpAnswer answer) {
                net::post(self->stream_.get_executor(),
                          [self, answer = std::move(answer)]() mutable { self->send(std::move(answer)); });
            });
    }
    void refuse(HttpAnswer answer) {
        // What of the body was not read would be taken for the next request.
        is_head_ = parser_->get().method() == beast::http::verb::head;
        if (!parser_->is_done()) close_after_ = true;
        send(std::move(answer));
    }

    void send(HttpAnswer answer) {
        namespace http = beast::http;
        ticket_.reset();
        all_.handler.answered(answer.status);
        requests_ += 1;
        if (!keep_alive_ || all_.stopping || requests_ >= all_.limits.max_requests_per_connection)
            close_after_ = true;
        body_ = answer.body ? std::move(answer.body) : std::make_shared<const std::string>();
        answer_ = {};
        answer_.version(11);
        answer_.result(static_cast<unsigned>(answer.status));
        for (const auto& [name, value] : answer.headers) answer_.set(name, value);
        if (!answer.content_type.empty()) answer_.set(http::field::content_type, answer.content_type);
        answer_.keep_alive(!close_after_);
        answer_.content_length(body_->size());
        answer_.body() =
            is_head_ ? beast::span<const char>() : beast::span<const char>(body_->data(), body_->size());
        constexpr std::size_t kBytesPerMs = 64;  // the page of a large fleet over a slow line
        lowest().expires_after(all_.limits.write + std::chrono::milliseconds(body_->size() / kBytesPerMs));
        serializer_.emplace(answer_);
        http::async_write(stream_, *serializer_, then(&Session::sent));
    }
    void sent(Error error, std::size_t) {
        if (error) return close();
        if (!close_after_) return wait();
        constexpr std::chrono::seconds kFarewell{2};
        lowest().expires_after(kFarewell);
        if constexpr (kTls)
            stream_.async_shutdown(then(&Session::said_goodbye));
        else
            said_goodbye({});
    }
    // Closed at once with bytes unread, the kernel would send a reset and the answer be lost on the way.
    void said_goodbye(Error) {
        Error ignored;
        lowest().socket().shutdown(net::ip::tcp::socket::shutdown_send, ignored);
        drain();
    }
    void drain() {
        buffer_.clear();
        constexpr std::size_t kBlock = 16384;
        lowest().async_read_some(buffer_.prepare(kBlock), then(&Session::drained));
    }
    void drained(Error error, std::size_t bytes) {
        constexpr std::size_t kMost = std::size_t{4} << 20U;
        drained_ += bytes;
        if (error || drained_ > kMost) return close();
        drain();
    }

    TlsContext tls_;
    Stream stream_;
    net::ip::address peer_;
    beast::flat_buffer buffer_{std::size_t{128} << 10U};
    boost::optional<Parser> parser_;
    HttpHead head_;
    std::shared_ptr<void> ticket_;
    std::shared_ptr<const std::string> body_;
    beast::http::response<beast::http::span_body<const char>> answer_;
    boost::optional<beast::http::response_serializer<beast::http::span_body<const char>>> serializer_;
    std::size_t requests_ = 0, drained_ = 0;
    bool waiting_ = false, reading_ = false, keep_alive_ = false, close_after_ = false, is_head_ = false;
};

}  // namespace gpucheck::fleet::collect
