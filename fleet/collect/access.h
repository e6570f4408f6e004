// Who asks and what he may do, from the files as they are now: a token that was taken out of its file opens
// nothing after a SIGHUP.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/collect/credentials.h"
#include "fleet/collect/http.h"
#include "fleet/collect/keys.h"
#include "fleet/collect/store.h"

namespace gpucheck::fleet::collect {

/// One reading of the files.
struct AccessFiles {
    Credentials credentials;
    TrustedKeys keys;
    std::shared_ptr<const KeyedMachines> keyed;
};

class Access {
  public:
    Access(std::string tokens_file, std::string keys_folder, bool open_to_report)
        : tokens_file_(std::move(tokens_file)), keys_folder_(std::move(keys_folder)), open_(open_to_report) {}
    /// Reads all files and changes nothing; what was read goes into force by use().
    using Made = std::variant<std::shared_ptr<const AccessFiles>, std::string>;
    Made made() const;
    void use(std::shared_ptr<const AccessFiles> files);
    std::shared_ptr<const AccessFiles> files() const;

    /// nullptr: nobody's token, and none is needed. An int: 401 or 403.
    std::variant<const Token*, int> reporter(const AccessFiles& files, const HttpHead& head) const;
    std::variant<const Token*, int> reader(const AccessFiles& files, const HttpHead& head) const;

    /// Whether a Host header names this machine's loopback, exactly, with or without a port.
    static bool is_local_name(std::string_view host);

  private:
    std::string tokens_file_, keys_folder_;
    bool open_;  ///< without a token for it in the file, anybody may report: loopback, or --insecure
    mutable std::mutex lock_;
    std::shared_ptr<const AccessFiles> files_ = std::make_shared<AccessFiles>();
};

}  // namespace gpucheck::fleet::collect
