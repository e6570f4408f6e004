// The report for programs: docs/report.schema.json describes it. A consumer that drains a machine by it must
// find every check, also those that were not run, and null where nobody knows.
#include <tuple>

#include "agent/report/json_gpu.h"
#include "agent/report/json_text.h"
#include "agent/report/render.h"
#include "agent/report/report_id.h"
#include "agent/report/view.h"

namespace gpucheck::report {
namespace {

constexpr std::string_view kSchemaVersion = "1.0";

void count_or_null(JsonText& json, std::string_view name, std::optional<unsigned> count) {
    json.key(name);
    if (count) {
        json.number(*count);
    } else {
        json.null();
    }
}

// A time that is none would make the whole document invalid.
void write_time(JsonText& json, std::string_view name, std::string_view time) {
    json.key(name).text_or_null(unix_seconds(time) ? time : std::string_view());
}

void write_head(JsonText& json, const Report& report, const View& view) {
    json.key("schema_version").text(kSchemaVersion);
    json.key("report_id").text(report.report_id);
    json.key("created").text(report.created);
    json.key("boot_id");
    const Fact<std::string>& boot = report.snapshot.host.boot_id;
    if (boot.known()) {
        json.text(boot.value());
    } else {
        json.null();
    }
    json.key("tool").begin_object();
    json.key("name").text("gpucheck");
    json.key("version").text(report.tool_version);
    json.end_object();
    json.key("profile").text(name_of(report.profile));
    json.key("duration_s").decimal(report.duration_s, 6);
    json.key("simulated").flag(report.simulated);
    json.key("injected").text_or_null(report.injected);
    json.key("machine").text_or_null(report.machine);
    json.key("verdict").text(name_of(report.verdict));
    json.key("gpu_count").begin_object();
    count_or_null(json, "expected", view.count.expected);
    count_or_null(json, "pci", view.count.pci);
    count_or_null(json, "bound", view.count.bound);
    json.end_object();
}

void write_price(JsonText& json, const HourlyPrice& price) {
    constexpr int kDecimals = 6;
    const auto usd = [](JsonText& out, double value) { out.decimal(value, kDecimals); };
    FactObject object(json);
    object.fact("instance_usd", price.instance_usd, usd);
    object.fact("gpu_usd", price.gpu_usd, usd);
    object.text("market", price.market);
    object.text("as_of", price.as_of);
    object.flag("stale", price.stale);
    json.key("source").text_or_null(price.gpu_usd.source());
    object.end();
}

// What is known of whom: a price without its source is a rumour.
template <class T>
void write_source(JsonText& json, std::string_view name, const Fact<T>& fact) {
    if (fact.known()) json.key(name).text_or_null(fact.source());
}

void write_instance(JsonText& json, const Instance& instance) {
    json.key("instance");
    FactObject object(json);
    object.text("provider", instance.provider);
    object.text("type", instance.type);
    object.text("id", instance.id);
    object.text("region", instance.region);
    object.text("zone", instance.zone);
    object.text("lifecycle", instance.lifecycle);
    object.fact("price", instance.price, write_price);
    json.key("sources").begin_object();
    Instance::fields(
        [&](auto... field) { (write_source(json, field.name, instance.*(field.member)), ...); });
    json.end_object();
    object.end();
}

void write_readiness(JsonText& json, const Report& report) {
    json.key("readiness");
    if (!report.readiness) {
        json.null();
        return;
    }
    const Readiness& readiness = *report.readiness;
    json.begin_object();
    json.key("ready").flag(readiness.ready);
    json.key("timed_out").flag(readiness.timed_out);
    json.key("under_way").flag(readiness.under_way);
    json.key("waited_s").decimal(readiness.waited_s);
    json.key("limit_s").decimal(readiness.limit_s);
    json.key("changes").begin_array();
    for (const Readiness::Change& change : readiness.changes) {
        json.begin_object();
        json.key("at_s").decimal(change.at_s);
        json.key("missing").text(change.hurdle);
        json.key("cause").text(change.cause);
        json.key("text").text(change.text);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void write_check(JsonText& json, const CheckLine& line) {
    const CheckResult& result = line.result;
    json.begin_object();
    json.key("id").text(result.check != nullptr ? result.check->id : "unnamed");
    json.key("title").text(result.check != nullptr ? result.check->title : "");
    json.key("verdict").text(name_of(result.verdict));
    json.key("required").flag(result.required);
    json.key("impact").text(name_of(result.check != nullptr ? result.check->impact : Impact::passive));
    json.key("reason").text_or_null(result.reason);
    json.key("findings").number(result.findings.size());
    json.key("duration_ms").decimal(line.duration_ms);
    json.end_object();
}

void write_problem(JsonText& json, const Problem& problem) {
    json.begin_object();
    json.key("code").text(problem.code);
    json.key("check").text(problem.check);
    json.key("verdict").text(name_of(problem.verdict));
    json.key("scope").text(name_of(problem.scope));
    json.key("subject").text(problem.subject);
    json.key("expected").text_or_null(problem.expected);
    json.key("observed").text_or_null(problem.observed);
    json.key("source").text_or_null(problem.source);
    json.key("message").text(problem.title);
    json.key("action").text(name_of(problem.action()));
    json.key("remedy").text_or_null(problem.remedy());
    json.key("count").number(problem.count);
    write_time(json, "first", problem.first);
    write_time(json, "last", problem.last);
    json.end_object();
}

void write_not_checked(JsonText& json, const NotChecked& item) {
    json.begin_object();
    json.key("check").text(item.check);
    json.key("code").text_or_null(item.code);
    json.key("subject").text_or_null(item.subject);
    json.key("verdict").text(name_of(item.verdict));
    json.key("reason").text(item.reason);
    json.end_object();
}

void write_texts(JsonText& json, std::string_view name, const std::vector<std::string>& texts) {
    json.key(name).begin_array();
    for (const std::string& text : texts) json.text(text);
    json.end_array();
}

void write_cost(JsonText& json, const Cost& cost) {
    json.key("cost").begin_array();
    for (const std::string& row : cost.rows) json.ready(row);
    json.end_array();
    json.key("cost_missing").text_or_null(cost.missing);
    write_texts(json, "cost_shortfalls", cost.shortfalls);
    write_texts(json, "cost_notes", cost.notes);
}

template <class Items, class Write>
void write_all(JsonText& json, std::string_view name, const Items& items, Write write) {
    json.key(name).begin_array();
    for (const auto& item : items) write(json, item);
    json.end_array();
}

}  // namespace

std::string render_json(const Report& report) {
    const View view = view_of(report);
    JsonText json;
    json.begin_object();
    write_head(json, report, view);
    write_instance(json, report.snapshot.instance);
    write_readiness(json, report);
    json.key("host");
    write_host(json, report.snapshot.host);
    json.key("gpus").begin_array();
    for (std::size_t i = 0; i < report.snapshot.gpus.size(); ++i) {
        write_gpu(json, report.snapshot.gpus[i], report.snapshot.expected, view.gpus[i]);
    }
    json.end_array();
    write_all(json, "checks", report.checks, write_check);
    write_all(json, "findings", view.problems, write_problem);
    write_all(json, "not_checked", view.not_checked, write_not_checked);
    write_cost(json, report.cost);
    json.end_object();
    return json.take();
}

}  // namespace gpucheck::report
