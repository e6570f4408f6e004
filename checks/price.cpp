// Tells which price a cost rests on and when it must not be used: list prices moved by a third to two thirds
// within months, and a price of eight GPUs says nothing about seven.
#include <string>

#include "checks/all.h"

namespace gpucheck {
namespace {

constexpr std::string_view kId = "instance.price";

NotApplicable applies(const Snapshot& snapshot) {
    const Fact<HourlyPrice>& price = snapshot.instance.price;
    if (price.known() || price.why().starts_with("refused")) return std::nullopt;
    return "no price: " + price.why();
}

// Neither is a fault of the machine: both are told as answers that are missing, and no profile requires them.
void judge(const Snapshot& snapshot, Findings& findings) {
    const Fact<HourlyPrice>& price = snapshot.instance.price;
    if (!price.known()) {
        findings.push_back(finding("price.refused", Verdict::unknown, {}, "a price of the machine as it is",
                                   price.why(), price.source()));
        return;
    }
    const std::string seen =
        price->as_of.known() ? "seen " + *price->as_of : "of unknown age: " + price->as_of.why();
    if (!price->stale.is(false)) {
        findings.push_back(finding("price.stale", Verdict::unknown, {}, "a price of the last 90 days", seen,
                                   price.source()));
        return;
    }
    findings.push_back(finding(kId, Verdict::pass, {}, "a price of the last 90 days", seen, price.source()));
}

}  // namespace

const Check kPriceCheck{.id = kId,
                        .title = "Price of the instance",
                        .impact = Impact::passive,
                        .required_from = Profile::soak,
                        .applies = applies,
                        .judge = judge};

}  // namespace gpucheck
