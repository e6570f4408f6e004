// What the fake drivers pretend to be: boards, values and faults from scenario.json, so that damage that no
// laboratory can order is met every day.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fake {

using Json = nlohmann::json;

struct Gpu {
    unsigned index = 0;
    std::string address;      ///< "0000:19:00.0"
    Json values, board;       ///< call to answer; the board's are the defaults
    bool hidden = false;      ///< on the bus, but the library does not know it
    unsigned lost_after = 0;  ///< calls until GPU_IS_LOST; 0: never
    unsigned calls = 0;       ///< that this process made
};

struct Fault {
    std::string call;  ///< "*" for every call
    std::string gpu;   ///< empty: whatever the GPU
    std::string what;  ///< "hang", "segv", ...; see README.md
    std::string code;  ///< for "error"
    unsigned after = 0;
    unsigned seen = 0;
};

struct Scenario {
    std::string folder;  ///< of scenario.json
    Json values;         ///< for all GPUs and for the system
    std::vector<Gpu> gpus;
    std::vector<std::string> excluded;
    std::vector<Fault> faults;

    /// nullptr when there is none of that address.
    Gpu* at(const std::string& address);
};

/// Loaded once a process, from $GPUCHECK_FAKE_SCENARIO or scenario.json beside the library. A scenario that
/// cannot be read ends the process loudly: a test that runs without its faults would pass for the wrong
/// reason.
Scenario& scenario();

/// The value for `call` and its arguments ("/1/0"): the GPU's, the scenario's or the board's, most specific
/// first; nullptr when nobody says. `gpu` may be null.
const Json* find_value(const Gpu* gpu, const std::string& call, const std::string& arguments);

/// A queue's next value, or the value of this reading; anything else is itself.
Json resolve_value(const Gpu* gpu, const std::string& call, const Json& value);

}  // namespace fake
