// Finds proxies that answer for the metadata service: the machine then learns another machine's identity and
// reports under it (DataDog/dd-agent#316).
#include <algorithm>
#include <array>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "env.metadata";  // the code it gives is env.proxy
// Metadata is plain HTTP, so an HTTPS proxy does not see it.
constexpr std::array<std::string_view, 4> kProxies{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
constexpr std::string_view kMetadata = "169.254.169.254";

/// Entries that take the metadata address out: itself, everything, or its network.
bool exempts(std::string_view list) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find_first_of(", "), list.size());
        const std::string_view entry = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        if (entry == kMetadata || entry == "*" || entry == "169.254.0.0/16" || entry == "169.254.169.254/32")
            return true;
    }
    return false;
}

void judge(const Snapshot& snapshot, Findings& findings) {
    std::string proxies;
    bool exempt = false;
    for (const NamedText& entry : snapshot.host.process.env) {
        for (std::string_view name : kProxies) {
            // The value may hold a password, so only the name is shown.
            if (entry.name == name && !entry.text.empty())
                proxies += (proxies.empty() ? "" : ", ") + entry.name;
        }
        if ((entry.name == "no_proxy" || entry.name == "NO_PROXY") && exempts(entry.text)) exempt = true;
    }
    if (proxies.empty() || exempt) {
        findings.push_back(finding(kId, Verdict::pass, {}, "metadata without a proxy",
                                   proxies.empty() ? "no proxy set" : proxies + " set, metadata exempt",
                                   "environment"));
        return;
    }
    findings.push_back(finding("env.proxy", Verdict::warn, {}, "NO_PROXY with " + std::string(kMetadata),
                               proxies + " set without it", "environment"));
}

}  // namespace

const Check kProxyCheck{.id = kId,
                        .title = "Proxy in front of the metadata service",
                        .impact = Impact::passive,
                        .required_from = Profile::acceptance,
                        .applies = nullptr,
                        .judge = judge};

}  // namespace gpucheck
