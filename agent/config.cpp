// Reads the configuration file; see config.h.
#include "agent/config.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "agent/report/explain.h"
#include "checks/json/json.h"
#include "checks/specs/data_file.h"
#include "providers/detect.h"
#include "providers/disk/files.h"
#include "providers/price.h"

namespace gpucheck {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostSinks = 16;

std::string in_quotes(std::string_view name) {
    return "\"" + std::string(name) + "\"";
}

// Reads the members of one object and remembers the first thing that is wrong.
class Members {
  public:
    Members(const Json& object, std::string place, std::initializer_list<std::string_view> known)
        : object_(object), place_(std::move(place)) {
        if (!object.is_object()) {
            error_ = (place_.empty() ? "the whole" : place_) + ": must be an object";
            return;
        }
        for (const auto& [name, value] : object.items())
            if (std::find(known.begin(), known.end(), name) == known.end()) refuse_unknown(name, known);
    }

    std::string text(const char* name) {
        const Json* value = member(name);
        if (value == nullptr) return {};
        const auto* text = value->get_ptr<const std::string*>();
        if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) {
            refuse(name, "must be a text that is not empty");
            return {};
        }
        return *text;
    }
    std::string choice(const char* name, std::initializer_list<std::string_view> allowed) {
        std::string value = text(name);
        if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
        std::string list;
        for (const std::string_view each : allowed) list += (list.empty() ? "" : ", ") + in_quotes(each);
        refuse(name, "must be one of " + list);
        return {};
    }
    bool flag(const char* name, bool otherwise) {
        const Json* value = member(name);
        if (value == nullptr) return otherwise;
        if (!value->is_boolean()) refuse(name, "must be true or false");
        return value->is_boolean() ? value->get<bool>() : otherwise;
    }
    std::optional<double> number(const char* name, double least, double most) {
        const Json* value = member(name);
        if (value == nullptr) return std::nullopt;
        const double number = value->is_number() ? value->get<double>() : NAN;
        if (number >= least && number <= most) return number;
        refuse(name, "must be a number from " + short_text(least) + " to " + short_text(most));
        return std::nullopt;
    }
    std::optional<std::uint64_t> whole(const char* name, std::uint64_t least, std::uint64_t most) {
        const Json* value = member(name);
        if (value == nullptr) return std::nullopt;
        if (value->is_number_unsigned() && *value >= least && *value <= most)
            return value->get<std::uint64_t>();
        refuse(name, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
        return std::nullopt;
    }
    const Json* member(const char* name) const {
        const auto found = object_.is_object() ? object_.find(name) : object_.end();
        return found == object_.end() ? nullptr : &*found;
    }
    void refuse(std::string_view name, const std::string& why) {
        if (error_.empty()) error_ = (place_.empty() ? "" : place_ + ".") + std::string(name) + ": " + why;
    }
    void must_be_absolute(const char* name, const std::string& path) {
        if (!path.empty() && path.front() != '/') refuse(name, "must be an absolute path");
    }
    const std::string& error() const { return error_; }

  private:
    static std::string short_text(double value) {
        std::string text = std::to_string(value);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        return text;
    }
    void refuse_unknown(const std::string& name, std::initializer_list<std::string_view> known) {
        const auto near = report::near_names(name, {known.begin(), known.end()});
        std::string help = ", did you mean " + (near.empty() ? std::string() : in_quotes(near.front())) + "?";
        if (near.empty()) {
            help = "; known are";
            for (const std::string_view each : known) help += " " + in_quotes(each);
        }
        refuse(name.substr(0, 60), "unknown key" + help);
    }

    const Json& object_;
    std::string place_, error_;
};

// A scalar as --expect takes it: 8, "mi300x", true is on.
std::optional<std::string> expectation(const std::string& key, const Json& value) {
    if (value.is_string()) return key + "=" + value.get<std::string>();
    if (value.is_boolean()) return key + (value.get<bool>() ? "=on" : "=off");
    if (value.is_number_integer()) return key + "=" + value.dump();
    return std::nullopt;
}

std::variant<delivery::Sink, std::string> read_sink(const Json& json, const std::string& place) {
    Members members(json, place,
                    {"url", "token_file", "token_credential", "ca_file", "pin", "timeout_s", "insecure_http",
                     "prove_identity", "enrolment_token_file"});
    delivery::Sink sink;
    sink.url = members.text("url");
    sink.token_file = members.text("token_file");
    sink.token_credential = members.text("token_credential");
    sink.ca_file = members.text("ca_file");
    sink.pin = members.text("pin");
    sink.timeout_s = members.number("timeout_s", 0.1, 600).value_or(sink.timeout_s);
    sink.insecure_http = members.flag("insecure_http", false);
    sink.prove_identity = members.flag("prove_identity", false);
    sink.enrolment_token_file = members.text("enrolment_token_file");
    members.must_be_absolute("token_file", sink.token_file);
    members.must_be_absolute("ca_file", sink.ca_file);
    members.must_be_absolute("enrolment_token_file", sink.enrolment_token_file);
    if (!sink.enrolment_token_file.empty() && !sink.prove_identity)
        members.refuse("enrolment_token_file", "needs \"prove_identity\": true");
    if (sink.token_credential.find('/') != std::string::npos || sink.token_credential == "..")
        members.refuse("token_credential", "must be a file name without a folder");
    if (members.error().empty())
        if (const std::string why = delivery::refusal_of(sink); !why.empty())
            members.refuse("url", delivery::shown(sink.url) + ": " + why);
    if (!members.error().empty()) return members.error();
    return sink;
}

std::string read_sinks(const Json& json, Config& config) {
    if (!json.is_array() || json.size() > kMostSinks) return "sinks: must be an array of at most 16 objects";
    for (std::size_t i = 0; i < json.size(); ++i) {
        const std::string place = "sinks[" + std::to_string(i) + "]";
        auto sink = read_sink(json[i], place);
        if (auto* error = std::get_if<std::string>(&sink)) return *error;
        delivery::Sink& read = *std::get_if<delivery::Sink>(&sink);
        for (const delivery::Sink& other : config.sinks)
            if (other.url == read.url) return place + ".url: the same as another sink's";
        config.sinks.push_back(std::move(read));
    }
    return {};
}

std::string read_expect(const Json& json, Config& config) {
    if (!json.is_object()) return "expect: must be an object such as {\"gpu_count\": 8}";
    for (const auto& [key, value] : json.items()) {
        auto text = expectation(key, value);
        if (!text) return "expect." + key.substr(0, 60) + ": must be a text, a whole number, true or false";
        config.expect.push_back(*std::move(text));
    }
    return {};
}

std::string read_bounds(const Json& json, delivery::Bounds& bounds) {
    Members members(json, "spool", {"max_mib", "max_reports", "max_days"});
    if (const auto mib = members.whole("max_mib", 1, 1U << 20U)) bounds.most_bytes = *mib << 20U;
    if (const auto reports = members.whole("max_reports", 1, 1000000)) bounds.most_reports = *reports;
    if (const auto days = members.whole("max_days", 1, 3650))
        bounds.most_days = static_cast<std::int64_t>(*days);
    return members.error();
}

std::string read_all(const Json& json, Config& config) {
    Members members(json, "",
                    {"provider", "instance_type", "price_usd_per_hour", "expect", "metadata",
                     "provider_token_file", "sinks", "state_folder", "key_file", "spool"});
    config.provider = members.text("provider");
    config.instance_type = members.text("instance_type");
    config.price_usd_per_hour =
        members.number("price_usd_per_hour", providers::kLeastUsd, providers::kMostUsd);
    config.metadata = members.choice("metadata", {"auto", "off", "probe"});
    config.state_folder = members.text("state_folder");
    config.key_file = members.text("key_file");
    config.provider_token = members.text("provider_token_file");
    members.must_be_absolute("state_folder", config.state_folder);
    members.must_be_absolute("key_file", config.key_file);
    members.must_be_absolute("provider_token_file", config.provider_token);
    if (!config.instance_type.empty() && config.provider.empty())
        members.refuse("instance_type", "needs \"provider\": types are named by their provider");
    std::string error = members.error();
    const Json* sinks = members.member("sinks");
    const Json* expect = members.member("expect");
    const Json* spool = members.member("spool");
    if (error.empty() && sinks != nullptr) error = read_sinks(*sinks, config);
    if (error.empty() && expect != nullptr) error = read_expect(*expect, config);
    if (error.empty() && spool != nullptr) error = read_bounds(*spool, config.bounds);
    return error;
}

// As --price takes it, without a digit more or less than the file has.
std::string price_text(double usd) {
    std::array<char, 32> text{};
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), usd, std::chars_format::fixed);
    return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace

std::variant<Config, std::string> parse_config(const std::string& text, const std::string& path) {
    auto parsed = parse_data(text);
    // Not what was read last: who pastes a token into the wrong file must not find it in a log.
    if (const auto* error = std::get_if<std::string>(&parsed))
        return path + ": " + error->substr(0, error->find("; last read"));
    Config config;
    if (const std::string error = read_all(*std::get_if<Json>(&parsed), config); !error.empty())
        return path + ": " + error;
    return config;
}

std::variant<Config, std::string> read_config(const std::string& path) {
    const bool named = !path.empty();
    const std::string file = named ? path : kDefaultConfig;
    const auto content = disk::read_file(file, kMostBytes);
    if (const auto* error = std::get_if<disk::Error>(&content)) {
        // A default file that this user may not read speaks to others: a token's path may be in it.
        const bool absent = error->number == ENOENT || error->number == ENOTDIR || error->number == EACCES;
        if (!named && absent) return Config{};
        return error->what;
    }
    auto config = parse_config(std::get_if<disk::Content>(&content)->text, file);
    if (auto* read = std::get_if<Config>(&config)) read->named = named;
    return config;
}

bool speaks_of(const Config& config, const cli::MachineOptions& options) {
    return config.named || (options.machine.empty() && options.driver_dir.empty());
}

void fill(const Config& config, cli::RunOptions& options) {
    cli::MachineOptions& machine = options.machine;
    if (!speaks_of(config, machine)) return;
    constexpr const char* kSource = "config";
    const bool same_provider = machine.provider.empty() || providers::provider_named(machine.provider) ==
                                                               providers::provider_named(config.provider);
    if (machine.instance_type.empty() && same_provider && !config.instance_type.empty()) {
        machine.instance_type = config.instance_type;
        machine.type_source = kSource;
    }
    if (machine.provider.empty() && !config.provider.empty()) {
        machine.provider = config.provider;
        machine.provider_source = kSource;
    }
    machine.config_expect = config.expect;
    if (machine.metadata.empty()) machine.metadata = config.metadata;
    if (machine.provider_token.empty() && !config.provider_token.empty()) {
        machine.provider_token = config.provider_token;
        machine.token_source = kSource;
    }
    if (options.price.empty() && config.price_usd_per_hour) {
        options.price = price_text(*config.price_usd_per_hour);
        options.price_source = kSource;
    }
}

}  // namespace gpucheck
