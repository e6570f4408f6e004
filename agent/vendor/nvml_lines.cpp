// Reads the children's lines within bounds; see nvml_lines.h.
#include "agent/vendor/nvml_lines.h"

#include <variant>

#include "agent/vendor/nvml_session.h"
#include "checks/json/model_json.h"

namespace gpucheck::vendor::nvml {
namespace {

constexpr std::size_t kMaxFacts = 4096;  // 36 links of 17 facts each, and 120 others
constexpr std::size_t kMaxText = 512;    // NVML's longest is 96
constexpr std::size_t kMaxListed = 256;  // GPUs
constexpr std::size_t kMaxLinks = 36;
constexpr std::size_t kLineDepth = 4;

using Facts = std::map<std::string, Json, std::less<>>;

bool sane(const std::string& text) {
    return text.size() <= kMaxText;
}
bool sane(const std::vector<std::string>& list) {
    if (list.size() > kMaxListed) return false;
    for (const std::string& one : list) {
        if (!sane(one)) return false;
    }
    return true;
}
template <class T>
bool sane(const T&) {
    return true;
}

struct Filler {
    const Facts& facts;
    const Missing& otherwise;

    template <class T>
    Fact<T> take(const std::string& path) const {
        const auto found = facts.find(path);
        if (found == facts.end()) return otherwise;
        Fact<T> fact;
        std::string error;
        const bool good = from_json(found->second, fact, error) && sane(fact.source()) && sane(fact.why()) &&
                          (!fact.known() || sane(*fact));
        if (!good) return Missing{otherwise.source, "malformed: the child's line on " + path};
        return fact;
    }

    template <class T>
    void fill(Fact<T>& fact, const std::string& path) const {
        fact = take<T>(path);
    }
    /// The child tells how many links there are, then each link's facts.
    void fill(Fact<std::vector<NvLink>>& links, const std::string& path) const {
        const Fact<unsigned> count = take<unsigned>(path);
        if (!count.known()) {
            links = count.missing();
        } else if (*count > kMaxLinks) {
            links = Missing{count.source(), "malformed: " + std::to_string(*count) + " links"};
        } else {
            std::vector<NvLink> all(*count);
            for (unsigned i = 0; i < *count; ++i) {
                all[i].link = i;
                fill_struct(all[i], path + "." + std::to_string(i));
            }
            links = Fact<std::vector<NvLink>>(std::move(all), count.source());
        }
    }
    void fill(unsigned&, const std::string&) const {}  // NvLink::link, set above
    template <class T>
    requires model_json::HasFields<T>
    void fill(T& part, const std::string& path) const { fill_struct(part, path); }
    template <class T>
    void fill_struct(T& part, const std::string& path) const {
        const std::string prefix = path.empty() ? path : path + ".";
        T::fields(
            [&](const auto&... field) { (fill(part.*field.member, prefix + std::string(field.name)), ...); });
    }
};

/// What the child said of the rest, when it said something that is a Missing.
Missing rest_of(const Facts& facts, const Missing& otherwise) {
    const Fact<bool> rest = Filler{facts, otherwise}.take<bool>(std::string(kRest));
    return rest.known() ? otherwise : rest.missing();
}

}  // namespace

Told::Told(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        const std::variant<Json, JsonError> parsed = parse_json(line, kLineDepth);
        const auto* object = std::get_if<Json>(&parsed);
        if (object == nullptr || !object->is_object()) continue;
        for (const auto& [path, fact] : object->items()) {
            if (facts_.size() >= kMaxFacts) return;
            facts_.emplace(path, fact);
        }
    }
}

void Told::fill(NvidiaTelemetry& telemetry, const Missing& otherwise) const {
    const Missing rest = rest_of(facts_, otherwise);
    Filler{facts_, rest}.fill_struct(telemetry, "");
}

void Told::fill(NvmlSystem& system, const Missing& otherwise) const {
    const Missing rest = rest_of(facts_, otherwise);
    Filler{facts_, rest}.fill_struct(system, "");
}

}  // namespace gpucheck::vendor::nvml
