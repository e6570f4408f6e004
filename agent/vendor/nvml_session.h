// One conversation with NVML inside a child: announces each call before it is made and tells each fact at
// once, so that what was said before a hang is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent/child/child.h"
#include "agent/vendor/nvml_calls.h"
#include "agent/vendor/nvml_decode.h"
#include "checks/json/model_json.h"

namespace gpucheck::vendor::nvml {

/// Path of the line that says why all facts are missing that have no line of their own.
inline constexpr std::string_view kRest = "*";

/// How a call ended, and what names it as a source.
struct Answer {
    std::string source;
    std::optional<Missing> bad;  ///< why there is no answer
    bool good() const { return !bad; }

    /// The fact: `value` as decoded; nullopt is "malformed".
    template <class T>
    Fact<T> fact(std::optional<T> value) const {
        if (bad) return *bad;
        if (!value) return Missing{source, "malformed"};
        return Fact<T>(std::move(*value), source);
    }
};

class Session {
  public:
    Session(child::Reporter& reporter, const Calls& calls) : calls_(calls), reporter_(&reporter) {}
    const Calls& calls() const { return calls_; }

    /// Calls it, unless the GPU is lost. `detail` follows the name in what is announced.
    template <class Signature, class... Arguments>
    Answer ask_for(const Call<Signature>& call, std::string_view detail, Arguments... arguments) {
        Answer answer{std::string(call.name) + std::string(detail), std::nullopt};
        if (lost_) {
            answer.bad = lost_;
        } else if (call.function == nullptr) {
            answer.bad = Missing{answer.source, "symbol absent"};
        } else {
            send();  // what is known must be out before a call that may not return
            reporter_->step(answer.source);
            judge(call.function(arguments...), answer);
        }
        return answer;
    }
    template <class Signature, class... Arguments>
    Answer ask(const Call<Signature>& call, Arguments... arguments) {
        return ask_for(call, {}, arguments...);
    }

    /// Tells a fact. What one call yields goes out in one line, at the latest before the next call.
    template <class T>
    void say(std::string_view path, const Fact<T>& fact) {
        model_json::add(line_, path, to_json(fact));
    }
    void send();  ///< ends the line
    template <class T>
    void tell(std::string_view path, const Fact<T>& fact) {
        say(path, fact);
        send();
    }

    /// Why the GPU is asked nothing more (GPU_IS_LOST); nullopt while it answers.
    const std::optional<Missing>& lost() const { return lost_; }

    /// One field of many in one call: each has its own result.
    struct Wanted {
        unsigned id, scope = 0;
    };
    struct Got {
        Answer answer;
        FieldValue value;
        Fact<std::uint64_t> count(std::uint64_t max = ~std::uint64_t{1}) const;
        Fact<bool> flag() const;
    };
    std::vector<Got> fields(Device gpu, const std::vector<Wanted>& wanted);

  private:
    void judge(Return code, Answer& answer);

    Calls calls_;
    child::Reporter* reporter_;
    Json line_ = model_json::empty_object();
    std::optional<Missing> lost_;
};

/// Opens the library and initialises NVML for one GPU or for the system. Missing: which of library absent,
/// required symbol absent, or init failed.
std::variant<Session, Missing> open_session(child::Reporter& reporter, const LibrarySource& libraries,
                                            std::string& path);

void read_system(Session& session);
/// Everything about the GPU at `address` (sysfs spelling).
void read_gpu(Session& session, const std::string& address);
/// Only whether NVML gives it out, which initialises it, and how far its fabric is.
void read_presence(Session& session, const std::string& address);

// Parts of read_gpu.
void read_identity(Session& session, Device gpu);
void read_state(Session& session, Device gpu);
void read_ecc(Session& session, Device gpu);
void read_repair(Session& session, Device gpu);
void read_links(Session& session, Device gpu);
void read_fabric(Session& session, Device gpu);
void read_pcie(Session& session, Device gpu);
void read_clocks(Session& session, Device gpu);
void read_power(Session& session, Device gpu);

}  // namespace gpucheck::vendor::nvml
