// Reads the prices of instances; see instance_prices.h.
#include "checks/cost/data/instance_prices.h"

#include <algorithm>

#include "checks/specs/data_file.h"

extern "C" const char gpucheck_prices_json_begin[];
extern "C" const char gpucheck_prices_json_end[];

namespace gpucheck::cost {

InstancePrice read_instance_price(const Json& row, RowReader& reader) {
    InstancePrice price;
    if (!reader.object(row, "the row",
                       {"provider", "type", "market", "usd_per_hour", "gpu_count", "as_of", "source",
                        "unverified", "note"})) {
        return price;
    }
    price.provider = reader.text(row, "provider");
    price.type = reader.text(row, "type");
    price.market = reader.text(row, "market");
    if (price.market != "on-demand" && price.market != "spot" && price.market != "reserved")
        reader.complain("market is none of on-demand, spot, reserved");
    const auto usd = reader.number(row, "usd_per_hour", 0.01, 100'000);
    const auto gpus = reader.whole(row, "gpu_count", 1, 1024);
    if (!usd || !gpus) reader.complain("usd_per_hour or gpu_count is missing");
    price.usd_per_hour = usd.value_or(0);
    price.gpu_count = static_cast<unsigned>(gpus.value_or(0));
    price.as_of = reader.text(row, "as_of");
    if (price.as_of.size() != 10) reader.complain("as_of is not a date like 2026-10-08");
    price.source = reader.text(row, "source");
    if (reader.array(row, "unverified") != nullptr) price.source += ", unverified";
    reader.optional_text(row, "note");
    return price;
}

std::variant<InstancePrices, std::string> InstancePrices::load(const std::string& folder) {
    const std::string_view embedded(
        gpucheck_prices_json_begin,
        static_cast<std::size_t>(gpucheck_prices_json_end - gpucheck_prices_json_begin));
    auto loaded = load_data_file(folder, "prices.json", embedded);
    if (auto* error = std::get_if<std::string>(&loaded)) return std::move(*error);
    const DataFile& file = std::get<DataFile>(loaded);
    RowReader reader(file.name);
    InstancePrices prices;
    if (!file.document.is_object()) return file.name + ": not an object";
    if (const Json* rows = reader.array(file.document, "instance_prices")) {
        for (const Json& row : *rows) {
            reader.at_row("instance_prices row " + std::to_string(prices.rows_.size() + 1));
            prices.rows_.push_back(read_instance_price(row, reader));
            if (!reader.ok()) return reader.error();
        }
    }
    if (!reader.ok()) return reader.error();
    return prices;
}

const InstancePrice* InstancePrices::find(std::string_view provider, std::string_view type,
                                          std::string_view market) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const InstancePrice& row) {
        return row.provider == provider && row.type == type && row.market == market;
    });
    return found != rows_.end() ? &*found : nullptr;
}

}  // namespace gpucheck::cost
