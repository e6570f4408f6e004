// Who asks and what he may do, from the files as they are now: a token that was taken out of its file opens
// nothing after a SIGHUP.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "fleet/collect/credentials.h"
#include "fleet/collect/http.h"
#include "fleet/collect/keys.h"

namespace gpucheck::fleet::collect {

/// One reading of the files.
struct AccessFiles {
    Credentials credentials;
    TrustedKeys keys;
};

class Access {
  public:
    Access(std::string tokens_file, std::string keys_folder, bool open_to_report)
        : tokens_file_(std::move(tokens_file)), keys_folder_(std::move(keys_folder)), open_(open_to_report) {}
    /// Reads the files (again). An error leaves what was there in force.
    std::optional<std::string> read();
    std::shared_ptr<const AccessFiles> files() const;

    /// nullptr: nobody's token, and none is needed. An int: 401 or 403.
    std::variant<const Token*, int> reporter(const AccessFiles& files, const HttpHead& head) const;
    std::variant<const Token*, int> reader(const AccessFiles& files, const HttpHead& head) const;

  private:
    std::string tokens_file_, keys_folder_;
    bool open_;  ///< without a token for it in the file, anybody may report: loopback, or --insecure
    mutable std::mutex lock_;
    std::shared_ptr<const AccessFiles> files_ = std::make_shared<AccessFiles>();
};

}  // namespace gpucheck::fleet::collect
