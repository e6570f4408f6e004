// Prices: who wins, what is no price, and what every trap of the providers' lists would have cost.
#include <gtest/gtest.h>

#include "agent/hourly_price.h"
#include "checks/cost/data/instance_prices.h"
#include "checks/cost/money.h"
#include "checks/specs/instances.h"
#include "providers/http/recorded.h"
#include "providers/instance.h"
#include "providers/price.h"

namespace gpucheck {
namespace {

Instance instance(const char* provider, const char* type, const char* lifecycle = nullptr) {
    Instance result;
    result.provider = Fact<std::string>(provider, "test");
    result.type = Fact<std::string>(type, "test");
    if (lifecycle != nullptr) result.lifecycle = Fact<std::string>(lifecycle, "test");
    return result;
}

const Fact<unsigned> kEight(8U, "type");

TEST(Price, OptionWinsOverApiOverTable) {
    Instance one = instance("digitalocean", "gpu-mi300x8-1536gb");
    const PriceWish table{"", "--price", "2026-11-30", ""};
    Fact<HourlyPrice> price = hourly_price(table, one, kEight, 8);
    ASSERT_TRUE(price.known()) << price.why();
    EXPECT_DOUBLE_EQ(*price->instance_usd, 20.72);
    EXPECT_DOUBLE_EQ(*price->gpu_usd, 2.59);
    EXPECT_EQ(*price->as_of, "2026-10-08");
    EXPECT_TRUE(price->stale.is(false));
    one.price = providers::price_of(24, kEight, "on-demand", "2026-11-30", false, "api");
    EXPECT_DOUBLE_EQ(*hourly_price(table, one, kEight, 8)->instance_usd, 24);
    price = hourly_price({"16", "config", "2026-11-30", ""}, one, kEight, 8);
    EXPECT_DOUBLE_EQ(*price->gpu_usd, 2);
    EXPECT_EQ(price.source(), "config");
}

TEST(Price, TableGoesStaleAfterNinetyDays) {
    const Instance one = instance("digitalocean", "gpu-mi300x8-1536gb");
    EXPECT_TRUE(hourly_price({"", "", "2027-01-06", ""}, one, kEight, 8)->stale.is(false));  // 90 days
    EXPECT_TRUE(hourly_price({"", "", "2027-01-07", ""}, one, kEight, 8)->stale.is(true));
    EXPECT_FALSE(hourly_price({"", "", "", ""}, one, kEight, 8)->stale.known());
    EXPECT_FALSE(hourly_price({"", "", "today", ""}, one, kEight, 8)->stale.known());
}

TEST(Price, ZeroAndAbsurdNumbersAreNoPrice) {
    for (const double usd : {0.0, -1.0, 1e9, std::numeric_limits<double>::infinity(), std::nan("")})
        EXPECT_FALSE(providers::price_of(usd, kEight, "", "", false, "x").known()) << usd;
    EXPECT_FALSE(hourly_price({"0", "--price", "2026-11-30", ""}, instance("aws", "x"), kEight, 8).known());
    for (const char* text : {"", "x", "1e3", "-2", "nan", "inf", "1,5", "2 "})
        EXPECT_FALSE(price_from_option(text).has_value()) << text;
    EXPECT_EQ(price_from_option("15.92"), 15.92);
    EXPECT_EQ(price_from_option("100000"), providers::kMostUsd);
    EXPECT_FALSE(price_from_option("100001").has_value());
    EXPECT_TRUE(providers::price_of(providers::kLeastUsd, kEight, "", "", false, "x").known());
    EXPECT_FALSE(providers::price_of(providers::kLeastUsd / 2, kEight, "", "", false, "x").known());
}

TEST(Price, RefusedWhenTheCountIsNotTheTypes) {
    const Instance one = instance("digitalocean", "gpu-mi300x8-1536gb");
    for (const char* text : {"", "16"}) {
        const Fact<HourlyPrice> price = hourly_price({text, "--price", "2026-11-30", ""}, one, kEight, 7);
        ASSERT_FALSE(price.known());
        EXPECT_NE(price.why().find("8 GPUs, and 7"), std::string::npos) << price.why();
    }
    const Fact<unsigned> unknown(Missing{"type", "not known"});
    const Fact<HourlyPrice> whole = hourly_price({"16", "--price", "2026-11-30", ""}, one, unknown, 7);
    EXPECT_DOUBLE_EQ(*whole->instance_usd, 16);
    EXPECT_FALSE(whole->gpu_usd.known());
}

TEST(Price, AnotherMarketIsAnotherPrice) {
    const PriceWish table{"", "", "2026-11-30", ""};
    EXPECT_FALSE(hourly_price(table, instance("digitalocean", "gpu-mi300x8-1536gb-spot"), kEight, 8).known());
    EXPECT_FALSE(hourly_price(table, instance("aws", "p5.48xlarge", "spot"), kEight, 8).known());
    EXPECT_TRUE(hourly_price(table, instance("aws", "p5.48xlarge", "on-demand"), kEight, 8).known());
    EXPECT_EQ(*hourly_price(table, instance("digitalocean", "gpu-mi350x8-2304gb-spot"), kEight, 8)->market,
              "spot");
    EXPECT_NE(hourly_price(table, instance("nobody", "x"), kEight, 8).why().find("--price"),
              std::string::npos);
}

Fact<HourlyPrice> listed(const std::string& provider, const Instance& of, const std::string& answers) {
    const auto client = std::get<0>(http::recorded_client(answers));
    providers::Questions questions(*client, std::chrono::steady_clock::now() + std::chrono::seconds(5), {});
    if (provider == "azure") return providers::ask_azure_price(questions, of, "2026-11-30");
    if (provider == "oci") return providers::ask_oci_price(questions, of, "2026-11-30");
    return providers::ask_vultr_price(questions, of, "2026-11-30");
}

std::string azure_url(const std::string& size, const std::string& region) {
    return "GET "
           "https://prices.azure.com/api/retail/"
           "prices?api-version=2023-01-01-preview&$filter=serviceName%20eq%20%27"
           "Virtual%20Machines%27%20and%20armRegionName%20eq%20%27" +
           region + "%27%20and%20armSkuName%20eq%20%27" + size +
           "%27%20and%20priceType%20eq%20%27Consumption%27";
}

std::string azure_item(const char* product, const char* name, double usd) {
    return std::string(
               R"({\"currencyCode\": \"USD\", \"unitOfMeasure\": \"1 Hour\", \"armSkuName\": \"S\", \"productName\": \")") +
           product + R"(\", \"skuName\": \")" + name + R"(\", \"meterName\": \")" + name +
           R"(\", \"retailPrice\": )" + std::to_string(usd) + "}";
}

TEST(Price, AzureLeavesOutWindowsSpotAndDedicatedHosts) {
    Instance one = instance("azure", "S");
    one.region = Fact<std::string>("eastus", "test");
    const auto answer = [&](const std::string& items) {
        return "{\"" + azure_url("S", "eastus") + R"(": {"status": 200, "body": "{\"Items\": [)" + items +
               R"(]}"}})";
    };
    const std::string items = azure_item("Virtual Machines Windows", "S", 60) + "," +
                              azure_item("VM", "S Spot", 9) + "," + azure_item("VM", "S Low Priority", 8) +
                              "," + azure_item("VM Dedicated Host", "S", 70);
    const Fact<HourlyPrice> price = listed("azure", one, answer(items + "," + azure_item("VM", "S", 48)));
    ASSERT_TRUE(price.known()) << price.why();
    EXPECT_DOUBLE_EQ(*price->instance_usd, 48);
    EXPECT_FALSE(listed("azure", one, answer(items)).known());
    EXPECT_FALSE(
        listed("azure", one, answer(azure_item("VM", "S", 48) + "," + azure_item("VM", "S", 49))).known());
    one.lifecycle = Fact<std::string>("spot", "test");
    EXPECT_DOUBLE_EQ(*listed("azure", one, answer(items))->instance_usd, 9);
    one.type = Fact<std::string>("S' or '1' eq '1", "test");
    EXPECT_FALSE(listed("azure", one, answer(items)).known());
}

TEST(Price, VultrAndOciListWholeInstances) {
    const char* const plans =
        R"({"GET https://api.vultr.com/v2/plans-metal?per_page=500": {"status": 200, "body": "{\"plans_metal\": [{\"id\": \"vbm-free\", \"hourly_cost\": 0}, {\"id\": \"vbm-256c-2048gb-8-mi300x-gpu\", \"hourly_cost\": 17.52, \"hourly_cost_preemptible\": 14.72}]}"}})";
    EXPECT_DOUBLE_EQ(*listed("vultr", instance("vultr", "vbm-256c-2048gb-8-mi300x-gpu"), plans)->instance_usd,
                     17.52);
    EXPECT_DOUBLE_EQ(
        *listed("vultr", instance("vultr", "vbm-256c-2048gb-8-mi300x-gpu", "spot"), plans)->instance_usd,
        14.72);
    EXPECT_FALSE(listed("vultr", instance("vultr", "vbm-free"), plans).known());  // zero is unknown
    EXPECT_FALSE(listed("vultr", instance("vultr", "vbm-other"), plans).known());
    const char* const estimator =
        R"({"GET https://www.oracle.com/a/ocom/docs/cloudestimator2/data/shapes.json": {"status": 200, "body": "{\"items\": [{\"name\": \"BM.GPU.X.8\", \"gpuQty\": 8, \"products\": [{\"partNumber\": \"B1\", \"qty\": 1}]}]}"},
            "GET https://www.oracle.com/a/ocom/docs/cloudestimator2/data/products.json": {"status": 200, "body": "{\"items\": [{\"partNumber\": \"B1\", \"currencyCodeLocalizations\": [{\"currencyCode\": \"EUR\", \"prices\": [{\"model\": \"PAY_AS_YOU_GO\", \"value\": 7}]}, {\"currencyCode\": \"USD\", \"prices\": [{\"model\": \"PAY_AS_YOU_GO\", \"value\": 6}]}]}]}"}})";
    const Fact<HourlyPrice> price = listed("oci", instance("oci", "BM.GPU.X.8"), estimator);
    ASSERT_TRUE(price.known()) << price.why();
    EXPECT_DOUBLE_EQ(*price->instance_usd, 48);
    EXPECT_DOUBLE_EQ(*price->gpu_usd, 6);
    EXPECT_FALSE(listed("oci", instance("oci", "BM.GPU.Y.8"), estimator).known());
}

TEST(Price, EveryRowOfTheTableIsOfAKnownTypeWithItsCount) {
    const auto loaded = cost::InstancePrices::load();
    ASSERT_TRUE(std::holds_alternative<cost::InstancePrices>(loaded)) << std::get<std::string>(loaded);
    for (const cost::InstancePrice& row : std::get<cost::InstancePrices>(loaded).rows()) {
        const auto type = find_instance(row.provider, row.type);
        ASSERT_TRUE(type.has_value()) << row.provider << " " << row.type;
        EXPECT_EQ(type->gpu_count, row.gpu_count) << row.type;
        EXPECT_TRUE(cost::days_between(row.as_of, "2026-11-30").has_value()) << row.type;
        const double of_one = row.usd_per_hour / row.gpu_count;
        EXPECT_GT(of_one, 0.3) << row.type;
        EXPECT_LT(of_one, 20) << row.type;
    }
}

}  // namespace
}  // namespace gpucheck
