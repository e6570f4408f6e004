// How outcomes of children are worded; see child.h.
#include <signal.h>

#include <cstring>

#include "agent/child/child.h"

namespace gpucheck::child {
namespace {

std::string signal_name(int number) {
    const char* name = ::sigabbrev_np(number);
    return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

std::string error_name(int number) {
    const char* name = ::strerrorname_np(number);
    return name != nullptr ? name : "errno " + std::to_string(number);
}

std::string no_answer(const Outcome& outcome, const Limits& limits) {
    return outcome.stalled ? "no answer within " + std::to_string(limits.stall.count()) + " ms"
                           : "no answer within " + std::to_string(limits.deadline.count()) + " ms";
}

}  // namespace

std::string_view name_of(Outcome::Kind kind) {
    switch (kind) {
        case Outcome::Kind::finished:
            return "finished";
        case Outcome::Kind::hangs:
            return "hangs";
        case Outcome::Kind::unkillable:
            return "unkillable";
        case Outcome::Kind::crashed:
            return "crashed";
        case Outcome::Kind::exited:
            return "exited";
        case Outcome::Kind::out_of_memory:
            return "out_of_memory";
        case Outcome::Kind::flooded:
            return "flooded";
        case Outcome::Kind::garbage:
            return "garbage";
        case Outcome::Kind::not_started:
            return "not_started";
    }
    return "not_started";
}

std::string detail_of(const Outcome& outcome, const Limits& limits) {
    switch (outcome.kind) {
        case Outcome::Kind::finished:
            return "";
        case Outcome::Kind::hangs:
            return no_answer(outcome, limits);
        case Outcome::Kind::unkillable:
            return no_answer(outcome, limits) + "; could not be killed";
        case Outcome::Kind::crashed:
            return signal_name(outcome.signal);
        case Outcome::Kind::exited:
            return "exit status " + std::to_string(outcome.exit_status);
        case Outcome::Kind::out_of_memory:
            return outcome.signal != 0 ? "ended by " + signal_name(outcome.signal) +
                                             ", as the kernel does when memory runs out"
                                       : "no memory was left";
        case Outcome::Kind::flooded:
            return "more than " + std::to_string(limits.max_bytes) + " bytes, or more than " +
                   std::to_string(limits.max_line) + " in one line";
        case Outcome::Kind::garbage:
            return "bytes that are no text where answers were due";
        case Outcome::Kind::not_started:
            return "no child process: " + error_name(outcome.error);
    }
    return "";
}

}  // namespace gpucheck::child
