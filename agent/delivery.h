// What becomes of a run's report: signed and on disk before the verdict is printed, delivered after it, and a
// dead network costs a run two seconds and no report.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/config.h"
#include "agent/report/report.h"
#include "providers/delivery/flush.h"
#include "providers/sign/ed25519.h"

namespace gpucheck {

/// Where reports go and what is used for it.
struct DeliveryPlan {
    std::vector<delivery::Sink> sinks;
    std::vector<delivery::Sink> configured;  ///< of the config, also those not sent to now
    std::string state_folder, spool_folder;
    std::string key_file;  ///< empty: state_folder's own
    delivery::Bounds bounds;
    bool wanted() const { return !sinks.empty(); }
};

/// `report_to` and `key` as on the command line; they win over the config. The error is a sentence.
std::variant<DeliveryPlan, std::string> plan_delivery(const Config& config, const std::string& report_to,
                                                      const std::string& key);
/// /var/lib/gpucheck for root, else $XDG_STATE_HOME/gpucheck; empty: nobody knows where.
std::string default_state_folder();

/// A report as it goes out.
struct Outgoing {
    std::string report_id, created, source;
    Verdict verdict = Verdict::unknown;
    std::string json;           ///< the report, or with `enveloped` an envelope around it
    bool enveloped = false;     ///< signed already
    std::string provider = {};  ///< of the instance; empty: not known
};
Outgoing outgoing(const report::Report& report);

/// Signs it and puts it on disk for each sink. What went wrong, in sentences; `kept` counts the sinks whose
/// copy is on disk. Without a key it is kept unsigned, and said.
struct Kept {
    std::size_t kept = 0;
    std::vector<std::string> told;
};
Kept keep(const DeliveryPlan& plan, const Outgoing& report);

/// No core file of this process, and no other process of this user may read its memory: it is about to hold a
/// key or a token.
void guard_memory();

struct DeliverOptions {
    std::chrono::milliseconds limit{std::chrono::milliseconds::max()};
    bool now = false, rejected = false;
    std::string only;
};
/// In this process.
delivery::FlushResult deliver_now(const DeliveryPlan& plan, const DeliverOptions& options);

/// In a child that is killed after 1.9 s; tells what was not delivered on standard error. `unkept`: put on
/// disk by the child first, or delivered from memory when no disk takes it.
void deliver_after_run(const DeliveryPlan& plan, const std::optional<Outgoing>& unkept);

}  // namespace gpucheck
