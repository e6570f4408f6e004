// Prices as numbers; see price.h.
#include "providers/price.h"

#include <cmath>

namespace gpucheck::providers {

Fact<HourlyPrice> price_of(double instance_usd, const Fact<unsigned>& gpus, std::string_view market,
                           const std::string& as_of, bool stale, const std::string& source) {
    if (!std::isfinite(instance_usd) || instance_usd < kLeastUsd)
        return Missing{source, "no price: zero or less is unknown, not free"};
    if (instance_usd > kMostUsd) return Missing{source, "no price: more than an instance can cost"};
    HourlyPrice price;
    price.instance_usd = Fact<double>(instance_usd, source);
    if (!gpus.known()) {
        price.gpu_usd = Missing{gpus.source(), "the type's number of GPUs is not known: " + gpus.why()};
    } else if (*gpus == 0) {
        price.gpu_usd = Missing{gpus.source(), "the type has no GPU"};
    } else {
        price.gpu_usd = Fact<double>(instance_usd / *gpus, source);
    }
    if (market.empty()) {
        price.market = Missing{source, "not told"};
    } else {
        price.market = Fact<std::string>(std::string(market), source);
    }
    if (as_of.empty()) {
        price.as_of = Missing{source, "not told"};
        price.stale = Missing{source, "not told"};
    } else {
        price.as_of = Fact<std::string>(as_of, source);
        price.stale = Fact<bool>(stale, source);
    }
    return Fact<HourlyPrice>(std::move(price), source);
}

}  // namespace gpucheck::providers
