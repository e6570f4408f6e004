// What instances cost, by provider and type, with the day on which each price was seen: the last resort where
// nobody stated a price and no provider was asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checks/specs/row_reader.h"

namespace gpucheck::cost {

/// One row of "instance_prices" in prices.json.
struct InstancePrice {
    std::string provider, type;
    std::string market;       ///< "on-demand", "spot", "reserved"
    double usd_per_hour = 0;  ///< of the whole instance
    unsigned gpu_count = 0;   ///< of the type: what the price was divided or multiplied by
    std::string as_of;        ///< YYYY-MM-DD
    std::string source;       ///< with ", unverified" where no second source agrees
};

InstancePrice read_instance_price(const Json& row, RowReader& reader);

class InstancePrices {
  public:
    /// prices.json of `folder` where that has one, else the one inside the binary.
    static std::variant<InstancePrices, std::string> load(const std::string& folder = {});
    /// The exact type: an ending such as "-spot" is another market and another price.
    const InstancePrice* find(std::string_view provider, std::string_view type,
                              std::string_view market) const;
    const std::vector<InstancePrice>& rows() const { return rows_; }

  private:
    std::vector<InstancePrice> rows_;
};

}  // namespace gpucheck::cost
