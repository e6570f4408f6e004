// Answers; see routes.h.
#include "fleet/collect/routes.h"

#include <algorithm>

#include "agent/report/report_id.h"
#include "fleet/collect/query.h"
#include "fleet/collect/report_head.h"
#include "fleet/page/page.h"
#include "providers/delivery/gzip.h"
#include "providers/sign/dsse.h"

namespace gpucheck::fleet::collect {

// Memory set aside for a body, and who sends it.
struct Routes::Ticket {
    std::atomic<std::size_t>* memory = nullptr;
    std::atomic<std::size_t> bytes = 0;
    std::shared_ptr<const AccessFiles> files;
    const Token* token = nullptr;  // in `files`
    Ticket() = default;
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    ~Ticket() {
        if (memory != nullptr) *memory -= bytes.exchange(0);
    }
};

namespace {

constexpr const char* kJsonType = "application/json";

std::int64_t unix_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

HttpAnswer with_body(int status, std::string type, std::shared_ptr<const std::string> body) {
    HttpAnswer answer{status, std::move(type), std::move(body), {}};
    answer.headers = {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}};
    return answer;
}
HttpAnswer with_text(int status, std::string type, std::string text) {
    return with_body(status, std::move(type), std::make_shared<const std::string>(std::move(text)));
}
HttpAnswer problem(int status, std::string_view detail) {
    HttpAnswer answer = with_text(status, "application/problem+json", problem_json(status, detail));
    if (status == 401)
        answer.headers.emplace_back("WWW-Authenticate", R"(Basic realm="gpucheck-fleet", charset="UTF-8")");
    return answer;
}
HttpAnswer later(int status, int seconds, std::string_view detail) {
    HttpAnswer answer = problem(status, detail);
    answer.headers.emplace_back("Retry-After", std::to_string(seconds));
    return answer;
}

bool is_read(const HttpHead& head) {
    return head.method == "GET" || head.method == "HEAD";
}
bool is_known_path(const std::string& path) {
    constexpr std::array<std::string_view, 6> kPaths = {"/",           "/healthz",    "/metrics",
                                                        "/v1/reports", "/v1/summary", "/v1/nodes"};
    return std::find(kPaths.begin(), kPaths.end(), path) != kPaths.end() || path.starts_with("/v1/reports/");
}

constexpr int kRetryAfterFull_s = 5, kRetryAfterStore_s = 30;

}  // namespace

Admission Routes::admit(const HttpHead& head) {
    if (!is_known_path(head.path)) return {problem(404, "there is nothing at this path"), nullptr};
    const bool takes_reports = head.path == "/v1/reports";
    if (takes_reports && head.method == "POST") return admit_report(head);
    if (!is_read(head)) {
        HttpAnswer answer = problem(405, "this method is not allowed at this path");
        answer.headers.emplace_back("Allow", takes_reports ? "GET, HEAD, POST" : "GET, HEAD");
        return {std::move(answer), nullptr};
    }
    if (head.body_bytes > 0) return {problem(400, "a body where none belongs"), nullptr};
    if (head.path == "/healthz") return {};
    const auto files = access_.files();
    const auto who = access_.reader(*files, head);
    if (const auto* status = std::get_if<int>(&who))
        return {
            problem(*status, *status == 401 ? "a token that may read is needed" : "this token may not read"),
            nullptr};
    return {};
}

Admission Routes::admit_report(const HttpHead& head) {
    auto ticket = std::make_shared<Ticket>();
    ticket->files = access_.files();
    const auto who = access_.reporter(*ticket->files, head);
    if (const auto* status = std::get_if<int>(&who)) {
        const Refusal refusal{
            *status, *status == 401 ? "a token that may report is needed" : "this token may not report"};
        tell(head.peer, head.header("idempotency-key"), refusal);
        return {problem(refusal.status, refusal.detail), nullptr};
    }
    ticket->token = *std::get_if<const Token*>(&who);
    if (ticket->token != nullptr) {
        if (const auto seconds = rates_.take(*ticket->token, Rates::Clock::now()))
            return {later(429, *seconds, "too many reports by this token"), nullptr};
        if (head.body_bytes > ticket->token->max_bytes)
            return {problem(413, "the body is larger than this token may send"), nullptr};
    }
    if (head.body_bytes == 0) return {problem(400, "there is no body"), nullptr};
    const std::string_view type = head.header("content-type");
    if (type != sign::kReportType && type != sign::kEnvelopeType)
        return {problem(415,
                        "only application/vnd.dsse.envelope.v1+json and application/vnd.gpucheck.report+json "
                        "are taken"),
                nullptr};
    ticket->memory = &memory_;
    return {std::nullopt, std::move(ticket)};
}

// For what has come and not for what was announced: an announcement costs its sender nothing.
bool Routes::reserve(const std::shared_ptr<void>& ticket, std::size_t bytes) {
    auto* const of = static_cast<Ticket*>(ticket.get());
    if (of == nullptr) return false;       // evicted meanwhile
    const std::size_t wanted = bytes * 2;  // once more for what it is decoded to
    const std::size_t had = of->bytes;
    if (wanted <= had) return true;
    const std::size_t more = wanted - had;
    if (memory_.fetch_add(more) + more > options_.max_memory_bytes) {
        memory_ -= more;
        return false;
    }
    of->bytes += more;
    return true;
}

void Routes::give_up(const std::shared_ptr<void>& ticket) {
    if (auto* const of = static_cast<Ticket*>(ticket.get())) memory_ -= of->bytes.exchange(0);
}

void Routes::handle(HttpHead head, std::string body, const std::shared_ptr<void>& ticket, Answer answer) {
    try {
        if (head.method == "POST")
            return put_report(head, std::move(body), *static_cast<const Ticket*>(ticket.get()), answer);
        if (head.path == "/healthz") return health(answer);
        if (head.path == "/" || head.path == "/v1/summary") return view(head, answer);
        if (!errands_.run([this, head, answer] { answer(ask_store(head)); }))
            answer(later(503, kRetryAfterFull_s, "too many questions at once"));
    } catch (const std::exception&) {
        answer(later(503, kRetryAfterStore_s, "not enough memory"));
    }
}

HttpAnswer Routes::ask_store(const HttpHead& head) {
    try {
        if (head.path == "/metrics")
            return with_text(200, "text/plain; version=0.0.4; charset=utf-8", metrics());
        return head.path.starts_with("/v1/reports/") ? one_report(head) : list(head);
    } catch (const std::exception&) {
        return later(503, kRetryAfterStore_s, "not enough memory");
    }
}

void Routes::put_report(const HttpHead& head, std::string body, const Ticket& ticket, const Answer& answer) {
    Delivery delivery;
    delivery.idempotency_key = head.header("idempotency-key");
    delivery.event_id = head.header("ce-id");
    delivery.content_type = head.header("content-type");
    delivery.content_encoding = head.header("content-encoding");
    delivery.identity_kind = head.header("gpucheck-identity-kind");
    delivery.identity = head.header("gpucheck-identity");
    if (ticket.token != nullptr) {
        delivery.token = ticket.token->name;
        delivery.token_machine = ticket.token->machine;
    }
    delivery.body = std::move(body);
    const ReceiveRules rules{ticket.files->credentials, ticket.files->keys, options_.max_report_bytes,
                             options_.refuse_unverified, ticket.files->keyed};
    auto received = receive(std::move(delivery), rules, unix_ms());
    if (const auto* refusal = std::get_if<Refusal>(&received)) {
        tell(head.peer, head.header("idempotency-key"), *refusal);
        return answer(problem(refusal->status, refusal->detail));
    }
    auto& report = *std::get_if<Incoming>(&received);
    const std::string id = report.report_id;  // moved from below, in no order
    const bool queued =
        writer_.add(std::move(report), [this, peer = head.peer, id, answer](std::optional<Taken> taken) {
            if (!taken) return answer(later(503, kRetryAfterStore_s, "the store cannot take reports now"));
            const Refusal what = answer_of(*taken);
            if (what.status < 300) return answer(with_body(what.status, {}, nullptr));
            tell(peer, id, what);
            answer(problem(what.status, what.detail));
        });
    if (!queued) answer(later(503, kRetryAfterFull_s, "too many reports at once"));
}

// A write is really tried, for all that ask at the same time once, and at most once a second.
void Routes::health(const Answer& answer) {
    const auto say = [](const Answer& to, StoreFault fault) {
        to(fault == StoreFault::none ? with_text(200, "text/plain; charset=utf-8", "ok\n")
                                     : later(503, kRetryAfterStore_s,
                                             "the store cannot be written: " + std::string(name_of(fault))));
    };
    constexpr std::chrono::seconds kGoodFor{1};
    {
        const std::lock_guard lock(pulse_lock_);
        const bool young = std::chrono::steady_clock::now() - pulse_at_ < kGoodFor && pulse_good_;
        if (!young) {
            pulse_asked_.push_back(answer);
            if (pulse_under_way_) return;
            pulse_under_way_ = true;
        } else {
            say(answer, StoreFault::none);
            return;
        }
    }
    const auto done = [this, say](StoreFault fault) {
        std::vector<Answer> asked;
        {
            const std::lock_guard lock(pulse_lock_);
            asked.swap(pulse_asked_);
            pulse_at_ = std::chrono::steady_clock::now();
            pulse_good_ = fault == StoreFault::none;
            pulse_under_way_ = false;
        }
        for (const Answer& each : asked) say(each, fault);
    };
    if (!writer_.pulse(done)) done(StoreFault::busy);
}

void Routes::view(const HttpHead& head, const Answer& answer) {
    const bool page_wanted = head.path == "/";
    live_.ask([answer, page_wanted](const std::shared_ptr<const View>& made) {
        if (!made) return answer(later(503, kRetryAfterStore_s, "the fleet cannot be read now"));
        if (!page_wanted) return answer(with_body(200, kJsonType, made->summary));
        HttpAnswer page = with_body(200, "text/html; charset=utf-8", made->page);
        page.headers.emplace_back("Content-Security-Policy", page_policy());
        page.headers.emplace_back("Referrer-Policy", "no-referrer");
        page.headers.emplace_back("X-Frame-Options", "DENY");
        answer(std::move(page));
    });
}

HttpAnswer Routes::list(const HttpHead& head) {
    const HttpAnswer unreadable = later(503, kRetryAfterStore_s, "the store cannot be read now");
    if (head.path == "/v1/nodes") {
        const auto asked = nodes_question_of(head.query);
        if (const auto* why = std::get_if<std::string>(&asked)) return problem(400, *why);
        const auto& question = *std::get_if<NodesQuestion>(&asked);
        const auto rows = store_.nodes(question.after, question.limit);
        const auto* got = std::get_if<std::vector<Row>>(&rows);
        return got == nullptr ? unreadable : with_text(200, kJsonType, nodes_json(*got, question.limit));
    }
    const auto asked = question_of(head.query);
    if (const auto* why = std::get_if<std::string>(&asked)) return problem(400, *why);
    const auto& question = *std::get_if<Question>(&asked);
    const auto rows = store_.reports(question);
    const auto* got = std::get_if<std::vector<Row>>(&rows);
    return got == nullptr ? unreadable : with_text(200, kJsonType, reports_json(*got, question.limit));
}

HttpAnswer Routes::one_report(const HttpHead& head) {
    const std::string id = head.path.substr(std::string_view("/v1/reports/").size());
    auto found = store_.report(id);
    if (std::holds_alternative<SqlError>(found))
        return later(503, kRetryAfterStore_s, "the store cannot be read now");
    auto& body = *std::get_if<std::optional<Body>>(&found);
    if (!body) return problem(404, "there is no such report");
    HttpAnswer answer;
    if (body->gzip) {
        bool too_large = false;
        auto whole = delivery::decompress(body->bytes, options_.max_report_bytes * 2 + 65536, &too_large);
        if (!whole) {
            complain_("the stored report " + id + " is damaged");
            return later(503, kRetryAfterStore_s, "the stored report is damaged");
        }
        answer = with_text(200, body->content_type, *std::move(whole));
    } else {
        answer = with_text(200, body->content_type, std::move(body->bytes));
    }
    answer.headers.emplace_back("Gpucheck-Verified", body->row.verified ? "true" : "false");
    return answer;
}

void Routes::answered(int status) {
    if (status >= 0 && static_cast<std::size_t>(status) < statuses_.size())
        statuses_[static_cast<std::size_t>(status)] += 1;
}

// Some a second: a stranger must not fill the journal.
void Routes::tell(const std::string& peer, std::string_view report_id, const Refusal& refusal) {
    constexpr std::int64_t kMostASecond = 5;
    {
        const std::lock_guard lock(telling_);
        const std::int64_t second = unix_ms() / 1000;
        if (second != told_second_) told_ = 0;
        told_second_ = second;
        if (++told_ > kMostASecond) return;
    }
    const std::string which = report::is_report_id(report_id) ? std::string(report_id) : "without an id";
    complain_("refused with " + std::to_string(refusal.status) + ", from " + peer + ", report " + which +
              ": " + refusal.detail);
}

}  // namespace gpucheck::fleet::collect
