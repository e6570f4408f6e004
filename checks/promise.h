// How far a promise may be trusted: said once, so that no check condemns a machine by a number that nobody
// confirmed.
#pragma once

#include <string_view>

#include "checks/model/verdict.h"

namespace gpucheck {

/// A row of instances.json marks figures without a confirmed source; its sources end with ", unverified)".
template <class T>
bool unconfirmed(const Fact<T>& promise) {
    return std::string_view(promise.source()).ends_with(", unverified)");
}

/// What a broken promise is worth.
template <class T>
Verdict verdict_of_broken(const Fact<T>& promise) {
    return unconfirmed(promise) ? Verdict::warn : Verdict::fail;
}

}  // namespace gpucheck
