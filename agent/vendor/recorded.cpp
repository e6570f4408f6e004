// vendor.json in and out; see recorded.h.
#include "agent/vendor/recorded.h"

#include <algorithm>
#include <utility>

#include "agent/host/recorded.h"
#include "checks/json/model_json.h"

namespace gpucheck::vendor {
namespace {

constexpr const char* kSource = "vendor.json";

// A reader of the document: every step says where it is when something is wrong.
class Reader {
  public:
    explicit Reader(std::string name) : name_(std::move(name)) {}

    bool fail(const std::string& where, const std::string& what) {
        error = name_ + ": " + (where.empty() ? "" : where + ": ") + what;
        return false;
    }

    template <class T>
    bool value(const Json& json, const std::string& where, T& into) {
        std::string what;
        return from_json(json, into, what) || fail(where, what);
    }

    bool seconds(const Json& entry, const char* name, const std::string& where, Fact<double>& into) {
        into = Missing{kSource, "not captured"};
        const auto found = entry.find(name);
        if (found == entry.end()) return true;
        constexpr double kMost = 1e9;
        const bool good = found->is_number() && found->get<double>() >= 0 && found->get<double>() < kMost;
        if (!good) return fail(where, std::string(name) + " is no number of seconds");
        into = Fact<double>(found->get<double>(), kSource);
        return true;
    }

    template <class T>
    bool gpus(const Json& json, const std::string& where, bool with_first,
              std::map<Bdf, RecordedAnswers::Readings<T>>& into) {
        if (!json.is_object()) return fail(where, "expected an object of PCI addresses");
        for (const auto& [address, entry] : json.items()) {
            const std::string here = where + "." + address;
            const auto bdf = Bdf::parse(address);
            if (!bdf) return fail(where, "\"" + address + "\" is no PCI address");
            if (!entry.is_object()) return fail(here, "expected an object");
            RecordedAnswers::Readings<T>& readings = into[*bdf];
            const auto first = entry.find("first"), last = entry.find("last");
            if (first != entry.end() && !with_first) {
                return fail(here, "\"first\" comes from sysroot/, only \"last\" is kept here");
            }
            if (first != entry.end() && !value(*first, here + ".first", readings.first.emplace()))
                return false;
            if (last != entry.end() && !value(*last, here + ".last", readings.last.emplace())) return false;
            if (!seconds(entry, "first_at_s", here, readings.first_at_s)) return false;
            if (!seconds(entry, "last_at_s", here, readings.last_at_s)) return false;
        }
        return true;
    }

    bool nvml(const Json& json, RecordedAnswers& answers) {
        if (!json.is_object()) return fail("nvml", "expected an object");
        if (const auto system = json.find("system"); system != json.end()) {
            if (!value(*system, "nvml.system", answers.nvml.emplace())) return false;
        }
        if (const auto found = json.find("gpus"); found != json.end()) {
            if (!gpus(*found, "nvml.gpus", true, answers.nvidia)) return false;
        }
        answers.troubles.emplace();
        const auto troubles = json.find("troubles");
        return troubles == json.end() || value(*troubles, "nvml.troubles", *answers.troubles);
    }

    bool document(const Json& json, RecordedAnswers& answers) {
        if (!json.is_object()) return fail("", "expected an object");
        if (const auto found = json.find("nvml"); found != json.end() && !nvml(*found, answers)) return false;
        const auto amd = json.find("amd");
        if (amd == json.end()) return true;
        if (!amd->is_object()) return fail("amd", "expected an object");
        const auto found = amd->find("gpus");
        return found == amd->end() || gpus(*found, "amd.gpus", false, answers.amd);
    }

    std::string error;

  private:
    std::string name_;
};

// Facts that the file lacks are Missing "not in this snapshot" after reading; here that means nobody captured
// them. Facts sit at any depth, so every one is visited.
template <class T>
void reword(T& value) {
    if constexpr (model_json::is_a<T, Fact>) {
        if (!value.known() && value.why() == kNotInSnapshot) value = Missing{kSource, "not captured"};
    } else if constexpr (model_json::is_a<T, std::vector>) {
        for (auto& each : value) reword(each);
    } else if constexpr (model_json::HasFields<T>) {
        T::fields([&](const auto&... field) { (reword(value.*field.member), ...); });
    }
}

template <class T>
void put(const std::optional<T>& answer, T& into) {
    into = answer.value_or(T{});
    if (!answer) {
        Json nothing = Json::object();
        std::string unused;
        if (!from_json(nothing, into, unused)) return;
    }
    reword(into);
}

template <class T>
void put_readings(const std::map<Bdf, RecordedAnswers::Readings<T>>& all, Device& gpu, T Reading::*part,
                  bool with_first) {
    const auto found = all.find(gpu.bdf);
    if (with_first) put(found == all.end() ? std::nullopt : found->second.first, gpu.telemetry.first.*part);
    gpu.telemetry.first.at_s = gpu.telemetry.last.at_s = Missing{kSource, "not captured"};
    if (found == all.end()) return;
    gpu.telemetry.first.at_s = found->second.first_at_s;
    gpu.telemetry.last.at_s = found->second.last_at_s;
    if (found->second.last) put(found->second.last, gpu.telemetry.last.*part);
}

}  // namespace

std::variant<RecordedAnswers, std::string> parse_vendor_json(std::string_view text, const std::string& name) {
    auto parsed = parse_json(text);
    if (const auto* bad = std::get_if<JsonError>(&parsed)) return name + ": " + bad->what;
    RecordedAnswers answers;
    Reader reader(name);
    if (!reader.document(std::get<Json>(parsed), answers)) return reader.error;
    return answers;
}

std::variant<std::optional<RecordedAnswers>, std::string> read_vendor_json(const std::string& folder) {
    std::string error;
    const std::optional<std::string> text = host::read_beside(folder, "vendor.json", error);
    if (!error.empty()) return error;
    if (!text) return std::optional<RecordedAnswers>();
    auto parsed = parse_vendor_json(*text, folder + "/vendor.json");
    if (auto* bad = std::get_if<std::string>(&parsed)) return std::move(*bad);
    return std::optional(std::move(std::get<RecordedAnswers>(parsed)));
}

void apply(const RecordedAnswers& answers, Snapshot& snapshot) {
    put(answers.nvml, snapshot.host.nvml);
    for (Device& gpu : snapshot.gpus) {
        if (gpu.vendor == Vendor::nvidia) {
            put_readings(answers.nvidia, gpu, &Reading::nvidia, true);
        } else {
            put_readings(answers.amd, gpu, &Reading::amd, false);
        }
    }
    if (answers.troubles) {
        snapshot.host.vendor_troubles = Fact<std::vector<VendorTrouble>>(*answers.troubles, kSource);
    } else {
        snapshot.host.vendor_troubles = Missing{kSource, "not captured"};
    }
}

namespace {

// A reading that nobody made says nothing and is not written.
template <class T>
bool says_something(const T& value) {
    if constexpr (model_json::is_a<T, Fact>) {
        return value.known() || (value.why() != "not looked at" && value.why() != "not captured");
    } else if constexpr (model_json::HasFields<T>) {
        return T::fields([&](const auto&... field) { return (says_something(value.*field.member) || ...); });
    } else {
        return true;
    }
}

template <class T>
void keep(Json& entry, const std::string& name, const T& reading, const Fact<double>& at_s) {
    if (!says_something(reading)) return;
    entry[name] = to_json(reading);
    if (at_s.known()) entry[name + "_at_s"] = *at_s;
}

}  // namespace

std::string vendor_json(const Snapshot& snapshot) {
    Json nvidia = Json::object(), amd = Json::object();
    for (const Device& gpu : snapshot.gpus) {
        Json entry = Json::object();
        if (gpu.vendor == Vendor::nvidia) {
            keep(entry, "first", gpu.telemetry.first.nvidia, gpu.telemetry.first.at_s);
            keep(entry, "last", gpu.telemetry.last.nvidia, gpu.telemetry.last.at_s);
            if (!entry.empty()) nvidia[gpu.bdf.str()] = std::move(entry);
        } else {
            keep(entry, "last", gpu.telemetry.last.amd, gpu.telemetry.last.at_s);
            if (!entry.empty() && gpu.telemetry.first.at_s.known())
                entry["first_at_s"] = *gpu.telemetry.first.at_s;
            if (!entry.empty()) amd[gpu.bdf.str()] = std::move(entry);
        }
    }
    Json document = Json::object();
    const auto& troubles = snapshot.host.vendor_troubles;
    if (troubles.known()) {  // somebody asked NVML
        document["nvml"] = {{"system", to_json(snapshot.host.nvml)},
                            {"gpus", std::move(nvidia)},
                            {"troubles", to_json(*troubles)}};
    }
    if (!amd.empty()) document["amd"] = {{"gpus", std::move(amd)}};
    return document.empty() ? std::string() : dump_json(document) + "\n";
}

}  // namespace gpucheck::vendor
