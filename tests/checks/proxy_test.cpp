// A proxy is a fault only where it stands before the metadata service.
#include <gtest/gtest.h>

#include "checks/all.h"
#include "tests/checks/healthy.h"

namespace gpucheck {
namespace {

std::string with_proxies(std::vector<NamedText> env) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.process.env = std::move(env);
    return said(kProxyCheck, machine);
}

TEST(Proxy, HealthyMachinesSayNothing) {
    EXPECT_EQ(said(kProxyCheck, healthy_h100_x8()), "");
    EXPECT_EQ(said(kProxyCheck, healthy_mi300x_vf()), "");
}

TEST(Proxy, WarnsWithoutAnExemption) {
    EXPECT_EQ(with_proxies({{"http_proxy", "http://user:secret@proxy:3128"}}), "env.proxy host warn");
    EXPECT_EQ(with_proxies({{"ALL_PROXY", "socks5://proxy"}, {"NO_PROXY", "localhost,1169.254.169.254"}}),
              "env.proxy host warn");
    EXPECT_EQ(with_proxies({{"http_proxy", "http://proxy"}, {"no_proxy", "localhost, 169.254.169.254"}}), "");
    EXPECT_EQ(with_proxies({{"HTTP_PROXY", "http://proxy"}, {"NO_PROXY", "*"}}), "");
    EXPECT_EQ(with_proxies({{"http_proxy", ""}}), "");
    EXPECT_EQ(with_proxies({{"https_proxy", "http://proxy"}}), "");
}

TEST(Proxy, NeverShowsThePassword) {
    Snapshot machine = healthy_mi300x_vf();
    machine.host.process.env = {{"http_proxy", "http://user:secret@proxy:3128"}};
    for (const Finding& finding : complaints(kProxyCheck, machine)) {
        EXPECT_EQ(finding.observed.find("secret"), std::string::npos);
        EXPECT_EQ(finding.expected.find("secret"), std::string::npos);
    }
}

}  // namespace
}  // namespace gpucheck
