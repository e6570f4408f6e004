// From a request's bytes to a report that may be stored: everything that can be refused without the database
// is refused here, with the status of docs/openapi.yaml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/collect/credentials.h"
#include "fleet/collect/keys.h"
#include "fleet/collect/store.h"

namespace gpucheck::fleet::collect {

struct Delivery {
    std::string idempotency_key, event_id;  ///< `event_id`: ce-id, empty where it was not sent
    std::string content_type, content_encoding;
    std::string identity_kind, identity;
    std::string token, token_machine;  ///< of the bearer token, if any: its name and its only machine
    std::string body;
};
struct ReceiveRules {
    const Credentials& credentials;
    const TrustedKeys& keys;
    std::size_t max_report_bytes = 0;
    bool refuse_unverified = false;
    std::shared_ptr<const KeyedMachines> keyed;
};
/// `detail` is for the sender: it repeats nothing of his that could be a secret.
struct Refusal {
    int status = 400;
    std::string detail;
};
std::variant<Incoming, Refusal> receive(Delivery delivery, const ReceiveRules& rules, std::int64_t now_ms);

/// What the database's decision means: 201, 200 or a problem.
Refusal answer_of(Taken taken);

}  // namespace gpucheck::fleet::collect
