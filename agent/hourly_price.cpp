// Chooses the price; see hourly_price.h.
#include "agent/hourly_price.h"

#include <charconv>
#include <cmath>

#include "checks/cost/data/instance_prices.h"
#include "checks/cost/money.h"
#include "providers/price.h"

namespace gpucheck {
namespace {

using providers::price_of;

Missing of_nobody(const Instance& instance) {
    const std::string how = "; --price USD_PER_HOUR tells it";
    if (!instance.provider.known()) return Missing{"prices.json", instance.provider.why() + how};
    if (!instance.type.known())
        return Missing{"prices.json", "the type is not known: " + instance.type.why() + how};
    return Missing{"prices.json", "no row for " + *instance.provider + " " + *instance.type + how};
}

Fact<HourlyPrice> from_table(const PriceWish& wish, const Instance& instance, std::size_t gpus_here) {
    if (!instance.provider.known() || !instance.type.known()) return of_nobody(instance);
    const auto loaded = cost::InstancePrices::load(wish.specs_folder);
    if (const auto* error = std::get_if<std::string>(&loaded)) return Missing{"prices.json", *error};
    const auto& table = std::get<cost::InstancePrices>(loaded);
    // Without a word about the market each of them may be meant; the only one that is listed is told as what
    // it is.
    const cost::InstancePrice* row = nullptr;
    if (instance.lifecycle.known()) {
        row = table.find(*instance.provider, *instance.type, *instance.lifecycle);
    } else {
        for (const char* market : {"on-demand", "spot", "reserved"}) {
            if (row == nullptr) row = table.find(*instance.provider, *instance.type, market);
        }
    }
    if (row == nullptr) return of_nobody(instance);
    const std::optional<long> age = cost::days_between(row->as_of, wish.today);
    const std::string source = "prices.json: " + row->provider + " " + row->type + " (" + row->source + ")";
    if (row->gpu_count != gpus_here) {
        return Missing{source, "refused: the price is for " + std::to_string(row->gpu_count) + " GPUs, and " +
                                   std::to_string(gpus_here) + " are here"};
    }
    Fact<HourlyPrice> price = price_of(row->usd_per_hour, Fact<unsigned>(row->gpu_count, source), row->market,
                                       row->as_of, age && *age > cost::kStalePriceDays, source);
    if (age || !price.known()) return price;
    HourlyPrice undated = *price;
    undated.stale = Missing{source, "today's date is not known"};
    return Fact<HourlyPrice>(std::move(undated), source);
}

// What the list of prices could not know: how many GPUs the type has.
Fact<HourlyPrice> with_gpus(const Fact<HourlyPrice>& price, const Fact<unsigned>& gpus) {
    if (!price.known() || price->gpu_usd.known() || !price->instance_usd.known()) return price;
    HourlyPrice shared = *price;
    const Fact<HourlyPrice> again = price_of(*price->instance_usd, gpus, "", "", false, price.source());
    if (again.known()) shared.gpu_usd = again->gpu_usd;
    return Fact<HourlyPrice>(std::move(shared), price.source());
}

Fact<HourlyPrice> chosen(const PriceWish& wish, const Instance& instance, const Fact<unsigned>& gpus,
                         std::size_t gpus_here) {
    if (!wish.text.empty() && wish.text != "api") {
        const auto usd = price_from_option(wish.text);
        if (!usd) return Missing{wish.source, "malformed: no price in USD"};
        const std::string market = instance.lifecycle.known() ? *instance.lifecycle : std::string();
        return price_of(*usd, gpus, market, wish.today, false, wish.source);
    }
    if (instance.price.known()) return instance.price;
    Fact<HourlyPrice> listed = from_table(wish, instance, gpus_here);
    // Who asked for the provider's word is told why it is missing.
    if (!listed.known() && wish.text == "api" && instance.price.why() != "not looked at")
        return instance.price;
    return listed;
}

}  // namespace

std::optional<double> price_from_option(const std::string& text) {
    double usd = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, usd, std::chars_format::fixed);
    if (text.empty() || read.ec != std::errc{} || read.ptr != end || !std::isfinite(usd) || usd < 0 ||
        usd > providers::kMostUsd)
        return std::nullopt;
    return usd;
}

Fact<HourlyPrice> hourly_price(const PriceWish& wish, const Instance& instance,
                               const Fact<unsigned>& gpus_of_type, std::size_t gpus_here) {
    const Fact<HourlyPrice> price = with_gpus(chosen(wish, instance, gpus_of_type, gpus_here), gpus_of_type);
    if (price.known() && gpus_of_type.known() && *gpus_of_type != gpus_here) {
        return Missing{price.source(), "refused: the price is for " + std::to_string(*gpus_of_type) +
                                           " GPUs, and " + std::to_string(gpus_here) + " are here"};
    }
    return price;
}

}  // namespace gpucheck
