// What one hour of this instance costs, by whoever may say so: a price of the wrong type, of seven GPUs of
// eight or of last year turns a cost comparison upside down.
#pragma once

#include <optional>
#include <string>

#include "checks/model/snapshot.h"

namespace gpucheck {

/// The option's text as a number of USD; nullopt when it is none or more than an instance can cost. "0" is a
/// number and no price.
std::optional<double> price_from_option(const std::string& text);

struct PriceWish {
    std::string text;    ///< of --price or the config: a number, "api", or empty
    std::string source;  ///< "--price", "config"
    std::string today;   ///< YYYY-MM-DD; empty: not known
    std::string specs_folder;
};

/// The option or the config > what the provider's API said (instance.price) > the dated table > Missing.
/// Refused when the machine shows another number of GPUs than the type has: the hour then buys something else
/// than what is here. `gpus_of_type` is what the type, the provider or --expect promises.
Fact<HourlyPrice> hourly_price(const PriceWish& wish, const Instance& instance,
                               const Fact<unsigned>& gpus_of_type, std::size_t gpus_here);

}  // namespace gpucheck
