// What experiments measured on one GPU as JSON: every number with its coverage, for machines that compare
// fleets.
#include <cmath>
#include <set>

#include "agent/report/json_gpu.h"
#include "checks/model/rates.h"

namespace gpucheck::report {
namespace {

void write_quantity(JsonText& json, const Quantity& quantity) {
    constexpr int kDecimals = 6;
    json.begin_object();
    json.key("name").text(quantity.name);
    json.key("unit").text(quantity.unit);
    json.key("median").decimal(quantity.median, kDecimals);
    json.key("min").decimal(quantity.min, kDecimals);
    json.key("max").decimal(quantity.max, kDecimals);
    json.key("samples").number(quantity.samples);
    json.end_object();
}

void write_record(JsonText& json, const MismatchRecord& record) {
    FactObject object(json);
    object.number("offset", record.offset);
    object.number("block", record.block);
    object.number("wave", record.wave);
    object.number("lane", record.lane);
    object.number("element", record.element);
    object.number("unit", record.unit);
    json.key("expected").number(record.expected);
    json.key("got").number(record.got);
    object.end();
}

void write_places(JsonText& json, const std::vector<PlaceCount>& places) {
    json.begin_array();
    for (const PlaceCount& each : places) {
        json.begin_object();
        json.key("place").number(each.place);
        json.key("mismatches").number(each.mismatches);
        json.end_object();
    }
    json.end_array();
}

void write_result(JsonText& json, const ExperimentResult& result) {
    FactObject object(json);
    json.key("experiment").text(result.experiment);
    json.key("variant").text_or_null(result.variant);
    json.key("peer").text_or_null(result.peer);
    object.flag("ran", result.ran);
    object.flag("timed", result.timed);
    json.key("quantities").begin_array();
    for (const Quantity& quantity : result.quantities) write_quantity(json, quantity);
    json.end_array();
    object.number("values_checked", result.values_checked);
    object.number("values_expected", result.values_expected);
    object.number("mismatches", result.mismatches);
    object.number("units_tested", result.units_tested);
    object.number("units_total", result.units_total);
    object.number("bytes_tested", result.bytes_tested);
    object.number("bytes_total", result.bytes_total);
    object.text("repeat", result.repeat);
    object.number("seed", result.seed);
    object.text("parameters", result.parameters);
    json.key("records").begin_array();
    for (const MismatchRecord& record : result.records) write_record(json, record);
    json.end_array();
    json.key("by_unit");
    write_places(json, result.by_unit);
    json.key("by_address_bit");
    write_places(json, result.by_address_bit);
    object.end();
}

void write_load(JsonText& json, const LoadSamples& load) {
    FactObject object(json);
    object.number("samples", load.samples);
    const auto number = [](JsonText& out, double value) { out.decimal(value); };
    object.fact("seconds", load.seconds, number);
    const auto quantity = [](JsonText& out, const Quantity& value) { write_quantity(out, value); };
    object.fact("power", load.power_w, quantity);
    object.fact("temperature", load.temperature_c, quantity);
    object.fact("memory_temperature", load.memory_temperature_c, quantity);
    object.fact("clock", load.clock_mhz, quantity);
    object.number("throttle_mask", load.throttle_mask);
    object.fact("throttled_share", load.throttled_share, number);
    json.key("throttled_by").begin_array();
    for (const CauseShare& each : load.throttled_by) {
        json.begin_object();
        json.key("cause").text(each.cause);
        json.key("share").decimal(each.share);
        json.end_object();
    }
    json.end_array();
    object.fact("power_limit_w", load.power_limit_w, number);
    object.number("ecc_corrected", load.ecc_corrected);
    object.number("ecc_uncorrected", load.ecc_uncorrected);
    object.number("copy_samples", load.copy_samples);
    object.number("link_generation_max", load.link_generation_max);
    object.number("link_width_min", load.link_width_min);
    object.fact("busy_share", load.busy_share, number);
    object.end();
}

/// One flat number each, for whoever compares machines or reckons costs: the medians of what was timed, right
/// and looked at in full. What was not has no member.
void write_flat(JsonText& json, const BurnIn& burn_in) {
    constexpr int kDecimals = 6;
    const std::vector<MeasuredRate> rates = sound_rates(*burn_in.results);
    json.key("measurements").begin_object();
    std::set<std::string_view> written;
    for (const MeasuredRate& rate : rates) {
        if (written.insert(rate.metric).second)
            json.key(rate.metric).decimal(rate.quantity->median, kDecimals);
    }
    const Fact<Quantity>& power = burn_in.load.power_w;
    // A watt beside no time would be one of a machine that was not tested.
    if (!rates.empty() && power.known() && std::isfinite(power->median))
        json.key("power_w").decimal(power->median);
    if (burn_in.total_bytes.known()) json.key("capacity_bytes").number(*burn_in.total_bytes);
    json.end_object();
}

}  // namespace

void write_measurements(JsonText& json, const BurnIn& burn_in) {
    if (!burn_in.results.known()) return;
    json.key("experiments");
    FactObject object(json);
    object.text("ended", burn_in.ended);
    object.text("architecture", burn_in.architecture);
    object.text("images", burn_in.image);
    object.number("units", burn_in.units);
    object.number("memory_bytes", burn_in.total_bytes);
    json.key("load");
    write_load(json, burn_in.load);
    json.key("results").begin_array();
    for (const ExperimentResult& result : *burn_in.results) write_result(json, result);
    json.end_array();
    object.end();
    write_flat(json, burn_in);
}

}  // namespace gpucheck::report
