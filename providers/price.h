// What the instance costs, by the provider's own answer: a price per GPU model is meaningless when the same
// GPU costs 2.69 or 12.29 USD an hour, so each price belongs to one type of one provider, with a date.
#pragma once

#include <string>
#include <string_view>

#include "checks/model/snapshot.h"
#include "providers/questions.h"

namespace gpucheck::providers {

inline constexpr unsigned kMostGpusOfAType = 1024;
/// What an instance can cost for one hour, whoever says it. Less is a typing error or "free", which is
/// unknown.
inline constexpr double kLeastUsd = 0.001, kMostUsd = 100'000;

/// "gpu_info" is a price of the whole droplet; the slug's ending says which market it belongs to.
Fact<HourlyPrice> digitalocean_price(const Fact<Json>& size, const Fact<std::string>& slug,
                                     const Fact<unsigned>& gpus, const std::string& today);

/// Public price lists, asked when somebody wants a price from there (--price api). Each needs the type and
/// what else the instance tells of itself.
Fact<HourlyPrice> ask_azure_price(Questions& questions, const Instance& instance, const std::string& today);
Fact<HourlyPrice> ask_oci_price(Questions& questions, const Instance& instance, const std::string& today);
Fact<HourlyPrice> ask_vultr_price(Questions& questions, const Instance& instance, const std::string& today);

/// A price for the whole instance. Zero, negative, infinite or absurd numbers are Missing: no GPU is free.
/// `gpus`: of the type; the price of one is Missing with its reason where that is not known.
Fact<HourlyPrice> price_of(double instance_usd, const Fact<unsigned>& gpus, std::string_view market,
                           const std::string& as_of, bool stale, const std::string& source);

}  // namespace gpucheck::providers
