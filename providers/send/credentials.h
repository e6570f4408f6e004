// What a request needs beside the report: where this machine is, and the credentials that its metadata
// service gives it.
#pragma once

#include <string>
#include <variant>

#include "providers/render/render.h"
#include "providers/send/send.h"
#include "providers/send/sigv4.h"

namespace gpucheck::faults {

/// Exactly one of the two is used, by target.
struct Credentials {
    aws::Credentials aws;
    std::string bearer;
};

struct Standing {
    Place place;
    Credentials credentials;
};

/// Asks the target's metadata service. The Missing names the first thing that could not be had.
std::variant<Standing, Missing> standing_of(Target target, const Sender& sender, http::Client& metadata);

}  // namespace gpucheck::faults
