// Tells a provider about a fault of the machine that this process runs on, under the instance's own identity.
// A report of another machine, of an earlier boot or of a test would have a healthy host taken away, so none
// of them is sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "providers/render/render.h"

namespace gpucheck::faults {

/// The machine that sends, as it says itself.
struct Sender {
    Fact<std::string> boot_id;             ///< /proc/sys/kernel/random/boot_id
    Fact<std::string> physical_host;       ///< Azure: what Hyper-V says, see kvp_value
    Fact<std::string> digitalocean_token;  ///< of the API; a file that the operator made
    std::string now;                       ///< RFC 3339 UTC
};

struct Consent {
    bool destructive = false;  ///< also what may have the machine taken away
    /// Ask for everything that the request needs, then send nothing; AWS is asked with DryRun=true, which
    /// only says whether the call would be allowed.
    bool dry_run = false;
};

enum class Sent : std::uint8_t {
    done,     ///< the provider took it, or with dry_run: it would have been sent
    nothing,  ///< the report has nothing that this provider is told
    refused,  ///< by us: not sendable, not agreed to, not of this machine
    failed,   ///< something on the way: a service that does not answer, a provider that says no
};

struct Outcome {
    Sent sent = Sent::failed;
    std::string why;                   ///< one sentence; holds no secret
    Rendering rendering;               ///< what was sent, or would be
    std::vector<std::string> answers;  ///< "PUT https://...: 200"
};

/// `metadata` and `network` may be one client; they are two so that tests can tell who was asked what.
Outcome send(Target target, const ReportFacts& report, const Sender& sender, Consent consent,
             http::Client& metadata, http::Client& network, const FaultTable& table);

/// A value of a Hyper-V key-value pool (hv_kvp_daemon.c: records of a 512-byte key and a 2048-byte value,
/// padded with NUL). The host writes `PhysicalHostName` into pool 3.
Fact<std::string> kvp_value(std::string_view pool, std::string_view key, const std::string& source);

}  // namespace gpucheck::faults
