// What a recorded machine's metadata.json answers, so that a provider's hostile or dead metadata service is a
// test that any machine can repeat.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "providers/http/http.h"

namespace gpucheck::http {

/// Reads the text of a metadata.json (docs/recorded-machines.md). A request that is not listed is refused, as
/// by a machine without the service. The text says what is wrong with a document that cannot be read.
std::variant<std::unique_ptr<Client>, std::string> recorded_client(std::string_view text);

/// A recorded machine without a metadata.json: nobody asked, so nobody can tell. Every request fails as
/// `local` with the detail "not captured".
std::unique_ptr<Client> nobody_asked();

}  // namespace gpucheck::http
