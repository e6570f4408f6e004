// Which request gets which answer: the receiver of docs/openapi.yaml, the page, the query API, and what
// watches the receiver itself.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "fleet/collect/access.h"
#include "fleet/collect/errands.h"
#include "fleet/collect/http.h"
#include "fleet/collect/live.h"
#include "fleet/collect/receive.h"
#include "fleet/collect/writer.h"

namespace gpucheck::fleet::collect {

struct RoutesOptions {
    std::size_t max_report_bytes = 0, max_memory_bytes = 0;
    bool refuse_unverified = false;
};

class Routes final : public HttpHandler {
  public:
    using Complain = std::function<void(const std::string&)>;
    Routes(Store& store, Writer& writer, Live& live, Access& access, RoutesOptions options, Complain complain)
        : store_(store),
          writer_(writer),
          live_(live),
          access_(access),
          options_(options),
          complain_(std::move(complain)) {}
    /// For /metrics; the server is made after this.
    void counts_of(std::function<HttpNumbers()> numbers) { http_numbers_ = std::move(numbers); }

    Admission admit(const HttpHead& head) override;
    bool reserve(const std::shared_ptr<void>& ticket, std::size_t bytes) override;
    void give_up(const std::shared_ptr<void>& ticket) override;
    void handle(HttpHead head, std::string body, const std::shared_ptr<void>& ticket, Answer answer) override;
    void answered(int status) override;
    /// Answers what was asked of the database, and takes no more.
    void finish() { errands_.finish(); }

  private:
    struct Ticket;
    Admission admit_report(const HttpHead& head);
    void put_report(const HttpHead& head, std::string body, const Ticket& ticket, const Answer& answer);
    void health(const Answer& answer);
    void view(const HttpHead& head, const Answer& answer);
    HttpAnswer list(const HttpHead& head);
    HttpAnswer one_report(const HttpHead& head);
    std::string metrics();
    HttpAnswer ask_store(const HttpHead& head);
    void tell(const std::string& peer, std::string_view report_id, const Refusal& refusal);

    Store& store_;
    Writer& writer_;
    Live& live_;
    Access& access_;
    RoutesOptions options_;
    Complain complain_;
    std::function<HttpNumbers()> http_numbers_;
    Rates rates_;
    std::atomic<std::size_t> memory_ = 0;
    std::array<std::atomic<std::uint64_t>, 600> statuses_{};
    std::mutex telling_;
    std::int64_t told_second_ = 0, told_ = 0;
    std::mutex pulse_lock_;
    std::vector<Answer> pulse_asked_;
    std::chrono::steady_clock::time_point pulse_at_;
    bool pulse_good_ = false, pulse_under_way_ = false;
    Errands errands_;  // the last member: its thread uses the others
};

}  // namespace gpucheck::fleet::collect
