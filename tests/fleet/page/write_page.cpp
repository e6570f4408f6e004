// Writes a sample's page, for the browser test and for the eye: fleet_page_sample NODES SEED > page.html
#include <cstdio>
#include <cstdlib>

#include "fleet/page/page.h"
#include "tests/fleet/page/sample.h"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: fleet_page_sample NODES SEED > page.html\n", stderr);
        return 64;
    }
    using namespace gpucheck::fleet;
    const Sample sample = make_sample(std::strtoul(argv[1], nullptr, 10),
                                      static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
    const std::string html =
        page(sample.fleet, sample.analysis,
             {.title = "Cluster north, November", .made = "2026-11-30T03:00:00Z", .policy = "default"});
    return std::fwrite(html.data(), 1, html.size(), stdout) == html.size() ? 0 : 1;
}
