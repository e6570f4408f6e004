// Which instance speaks, beside a report on its way: without it whoever knows a receiver's address can have a
// healthy machine drained, or hide a sick one.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "providers/delivery/entry.h"
#include "providers/http/http.h"
#include "providers/identity/proof.h"

namespace gpucheck::delivery {

/// Makes the headers Gpucheck-Identity-Kind, Gpucheck-Identity and, where the proof is bound to something,
/// Gpucheck-Identity-Bound-To. Asks the metadata service of the provider that the entry names.
class Prover {
  public:
    explicit Prover(http::Client& metadata) : metadata_(metadata) {}

    /// Within `most`; or why there is no proof. A proof that is not bound to one report is asked for once,
    /// and a service that gave none is not asked again.
    std::variant<std::vector<http::Header>, std::string> headers(const Entry& entry,
                                                                 std::chrono::milliseconds most);

  private:
    std::variant<identity::Proof, Missing> ask(const Entry& entry, std::chrono::milliseconds most);

    http::Client& metadata_;
    std::map<std::string, std::variant<identity::Proof, Missing>> kept_;  ///< by provider and audience
};

}  // namespace gpucheck::delivery
