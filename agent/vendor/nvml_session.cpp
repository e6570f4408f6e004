// Keeps library absent, symbol absent, init failed and call failed apart; see nvml_session.h.
#include "agent/vendor/nvml_session.h"

namespace gpucheck::vendor::nvml {
namespace {

/// FI 74 to 77, 269 as " FI 74 75 76 77 269".
std::string ids_of(const std::vector<Session::Wanted>& wanted) {
    std::string text = " FI";
    for (const Session::Wanted& one : wanted) text += " " + std::to_string(one.id);
    return text;
}

}  // namespace

void Session::send() {
    if (line_.empty()) return;
    reporter_->line(dump_json(line_, -1));
    line_ = model_json::empty_object();
}

void Session::judge(Return code, Answer& answer) {
    if (code == kSuccess) return;
    answer.bad = Missing{answer.source, name_of(code)};
    if (code == kGpuIsLost) lost_ = answer.bad;  // each further call to a lost GPU may hang
}

Fact<std::uint64_t> Session::Got::count(std::uint64_t max) const {
    if (answer.bad) return *answer.bad;
    const std::optional<std::uint64_t> raw = unsigned_of(value);
    return answer.fact(raw ? decode_count(*raw, max) : std::nullopt);
}

Fact<bool> Session::Got::flag() const {
    return convert_fact<bool>(count(), [](std::uint64_t raw) { return decode_flag(raw); });
}

std::vector<Session::Got> Session::fields(Device gpu, const std::vector<Wanted>& wanted) {
    std::vector<FieldValue> values(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        values[i] = FieldValue{};
        values[i].field_id = wanted[i].id;
        values[i].scope_id = wanted[i].scope;
        values[i].result = kNotSupported;  // a field that the library passes over is not zero
    }
    const Answer all =
        ask_for(calls_.field_values, ids_of(wanted), gpu, static_cast<int>(values.size()), values.data());
    std::vector<Got> got;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Answer one{std::string(calls_.field_values.name) + " FI " + std::to_string(wanted[i].id), all.bad};
        if (one.bad) {
            one.bad->source = lost_ ? lost_->source : one.source;
        } else if (values[i].field_id != wanted[i].id) {
            one.bad = Missing{one.source, "malformed"};
        } else {
            judge(values[i].result, one);
        }
        got.push_back(Got{std::move(one), values[i]});
    }
    return got;
}

std::variant<Session, Missing> open_session(child::Reporter& reporter, const LibrarySource& libraries,
                                            std::string& path) {
    reporter.step("dlopen libnvidia-ml.so.1");
    std::variant<Library, Missing> opened = Library::open(libraries, {"libnvidia-ml.so.1"});
    if (const auto* missing = std::get_if<Missing>(&opened)) return *missing;
    path = std::get<Library>(opened).path();
    std::variant<Calls, Missing> calls = resolve(std::get<Library>(opened));
    if (const auto* missing = std::get_if<Missing>(&calls)) return *missing;

    Session session(reporter, std::get<Calls>(calls));
    // Without the flag every child would attach every GPU, and one that hangs would hang all of them.
    Answer init = session.ask(session.calls().init_with_flags, kInitNoAttach);
    if (!init.good() && (init.bad->why == "symbol absent" || init.bad->why == name_of(kInvalidArgument))) {
        init = session.ask(session.calls().init);
    }
    if (!init.good()) return *init.bad;
    return session;
}

}  // namespace gpucheck::vendor::nvml
