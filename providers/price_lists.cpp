// Readers of the providers' price lists; see price.h. Each list has its own trap: rows for Windows, prices
// per part, totals that read like prices of one GPU.
#include <algorithm>
#include <cctype>
#include <optional>

#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck::providers {
namespace {

constexpr std::chrono::milliseconds kLongest{10'000};        // a list comes from far away
constexpr std::size_t kLargestList = std::size_t{16} << 20;  // OCI's list of all products is some megabytes

std::optional<double> number_in(const Json& object, const char* member) {
    if (!object.is_object()) return std::nullopt;
    const auto found = object.find(member);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

std::string word_in(const Json& object, const char* member) {
    const Fact<std::string> text = text_in(object, member, "");
    return text.known() ? *text : std::string();
}

const Json* list_in(const Fact<Json>& document, const char* member) {
    if (!document.known()) return nullptr;
    const auto found = document->find(member);
    return found != document->end() && found->is_array() ? &*found : nullptr;
}

http::Request list_request(std::string url) {
    http::Request request = get(std::move(url), {{"Accept", "application/json"}});
    request.proxy = http::Proxy::environment;
    request.max_body_bytes = kLargestList;
    request.total_timeout = kLongest;
    return request;
}

// Letters, digits and what types are spelled with: nothing that could end a filter.
bool is_name(const Fact<std::string>& text) {
    return text.known() && std::all_of(text->begin(), text->end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
           });
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

std::string_view market_of(const Fact<std::string>& lifecycle) {
    return lifecycle.is("spot") ? "spot" : "on-demand";
}

Missing no_row(const Fact<Json>& document, const std::string& why) {
    return document.known() ? Missing{document.source(), why} : document.missing();
}

}  // namespace

Fact<HourlyPrice> digitalocean_price(const Fact<Json>& size, const Fact<std::string>& slug,
                                     const Fact<unsigned>& gpus, const std::string& today) {
    if (!size.known()) return size.missing();
    const auto usd = number_in(*size, "price_hourly");
    if (!usd) return Missing{size.source() + " price_hourly", "not in the answer"};
    std::string_view market = "on-demand";
    if (slug.known() && slug->ends_with("-spot")) market = "spot";
    if (slug.known() && slug->ends_with("-contracted")) market = "reserved";
    return price_of(*usd, gpus, market, today, false, size.source() + " price_hourly");
}

Fact<HourlyPrice> ask_azure_price(Questions& questions, const Instance& instance, const std::string& today) {
    if (!is_name(instance.type) || !is_name(instance.region))
        return Missing{"prices.azure.com", "size or location is not known"};
    const std::string quote = "%27", blank = "%20";
    const auto is = [&](const char* field, const std::string& value) {
        return field + blank + "eq" + blank + quote + value + quote;
    };
    const std::string url = questions.api_url(
        "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&$filter=" +
        is("serviceName", "Virtual%20Machines") + blank + "and" + blank +
        is("armRegionName", *instance.region) + blank + "and" + blank + is("armSkuName", *instance.type) +
        blank + "and" + blank + is("priceType", "Consumption"));
    const Fact<Json> answer = questions.json(list_request(url));
    const Json* items = list_in(answer, "Items");
    if (items == nullptr) return no_row(answer, "malformed: no list of prices");
    const bool spot = instance.lifecycle.is("spot");
    std::optional<double> usd;
    for (const Json& item : *items) {
        const std::string product = word_in(item, "productName");
        const std::string name = word_in(item, "skuName") + " " + word_in(item, "meterName");
        if (word_in(item, "armSkuName") != *instance.type || word_in(item, "currencyCode") != "USD" ||
            word_in(item, "unitOfMeasure") != "1 Hour" || has(product, "Windows") ||
            has(product, "Dedicated") || has(name, "Low Priority") || has(name, "Spot") != spot)
            continue;
        const auto price = number_in(item, "retailPrice");
        if (!price) continue;
        if (usd && *usd != *price)
            return Missing{answer.source(), "several prices for one size: which is meant is not known"};
        usd = price;
    }
    if (!usd) return Missing{answer.source(), "no price for " + *instance.type + " in " + *instance.region};
    return price_of(*usd, Missing{"", "not told"}, market_of(instance.lifecycle), today, false,
                    answer.source());
}

Fact<HourlyPrice> ask_vultr_price(Questions& questions, const Instance& instance, const std::string& today) {
    if (!is_name(instance.type))
        return Missing{"api.vultr.com", "the plan is not known; --instance-type tells it"};
    const bool metal = instance.type->starts_with("vbm-");
    const Fact<Json> answer = questions.json(
        list_request(questions.api_url(metal ? "https://api.vultr.com/v2/plans-metal?per_page=500"
                                             : "https://api.vultr.com/v2/plans?type=all&per_page=500")));
    const Json* plans = list_in(answer, metal ? "plans_metal" : "plans");
    if (plans == nullptr) return no_row(answer, "malformed: no list of plans");
    for (const Json& plan : *plans) {
        if (word_in(plan, "id") != *instance.type) continue;
        const bool spot = instance.lifecycle.is("spot");
        const auto usd = number_in(plan, spot ? "hourly_cost_preemptible" : "hourly_cost");
        if (!usd) break;
        return price_of(*usd, Missing{"", "not told"}, market_of(instance.lifecycle), today, false,
                        answer.source());
    }
    return Missing{answer.source(), "no price for the plan " + *instance.type};
}

namespace {

// One shape is billed by the GPU: its only product's price times their number.
struct OciShape {
    std::string part;
    unsigned gpus = 0;
};

std::optional<OciShape> shape_in(const Json& shapes, const std::string& name) {
    for (const Json& shape : shapes) {
        if (word_in(shape, "name") != name) continue;
        const auto gpus = number_in(shape, "gpuQty");
        const auto products = shape.find("products");
        if (!gpus || *gpus < 1 || *gpus > kMostGpusOfAType || products == shape.end() ||
            !products->is_array() || products->size() != 1)
            return std::nullopt;
        return OciShape{word_in((*products)[0], "partNumber"), static_cast<unsigned>(*gpus)};
    }
    return std::nullopt;
}

std::optional<double> part_price(const Json& products, const std::string& part) {
    for (const Json& product : products) {
        if (word_in(product, "partNumber") != part) continue;
        const auto places = product.find("currencyCodeLocalizations");
        if (places == product.end() || !places->is_array()) return std::nullopt;
        for (const Json& place : *places) {
            if (word_in(place, "currencyCode") != "USD" || !place.contains("prices")) continue;
            for (const Json& price : place["prices"]) {
                if (word_in(price, "model") == "PAY_AS_YOU_GO") return number_in(price, "value");
            }
        }
    }
    return std::nullopt;
}

}  // namespace

Fact<HourlyPrice> ask_oci_price(Questions& questions, const Instance& instance, const std::string& today) {
    if (!is_name(instance.type)) return Missing{"www.oracle.com", "the shape is not known"};
    const auto list = [&](const char* name) {
        return questions.json(list_request(questions.api_url(
            std::string("https://www.oracle.com/a/ocom/docs/cloudestimator2/data/") + name)));
    };
    const Fact<Json> shapes = list("shapes.json");
    const Json* rows = list_in(shapes, "items");
    if (rows == nullptr) return no_row(shapes, "malformed: no list of shapes");
    const auto shape = shape_in(*rows, *instance.type);
    if (!shape || shape->part.empty())
        return Missing{shapes.source(), "no shape " + *instance.type + " that is billed by its GPUs alone"};
    const Fact<Json> products = list("products.json");
    const Json* parts = list_in(products, "items");
    if (parts == nullptr) return no_row(products, "malformed: no list of products");
    const auto usd = part_price(*parts, shape->part);
    if (!usd) return Missing{products.source(), "no price in USD for part " + shape->part};
    return price_of(*usd * shape->gpus, Fact<unsigned>(shape->gpus, shapes.source()), "on-demand", today,
                    false, products.source());
}

}  // namespace gpucheck::providers
