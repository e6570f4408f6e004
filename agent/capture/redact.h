// Takes identities out of what a capture writes. A captured machine is meant to be sent to strangers: what
// names the owner, the host or one exemplar of hardware must be gone, and everything that a check judges must
// still be there.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "agent/capture/pseudonyms.h"
#include "agent/host/sysroot.h"

namespace gpucheck::capture {

/// What kind of text it is decides what may be replaced in it.
enum class Vocabulary : std::uint8_t {
    people,   ///< logs, configuration, environment: addresses and any host name
    machine,  ///< the kernel's own words and version files: no dotted quads, and host names only when nothing
              ///< else looks like them
};
Vocabulary vocabulary_of(std::string_view path);

/// One per capture: replacements agree across its files.
class Redactor {
  public:
    /// Learns names and serials that must vanish wherever they appear, whether or not a check reads these
    /// files.
    void learn(const host::Sysroot& source);
    /// The same for a serial number that is known from elsewhere than a file.
    void learn_serial_number(std::string_view value) { learn_serial("", value); }
    /// The content of `path` (its real path) as it may be written; nullopt: must not be written at all.
    std::optional<std::string> file(std::string_view path, const std::string& content);
    /// A path or a link's target.
    std::string path(std::string_view path);
    /// Free text: a value of the environment, a log.
    std::string text(std::string_view text, Vocabulary vocabulary);
    /// A JSON document from beside the machine's files; values of keys that name secrets are emptied. Text as
    /// it is when no JSON.
    std::string json(std::string_view text);

  private:
    struct Word {
        std::string replacement;
        bool distinctive = true;  ///< cannot be mistaken for an ordinary word
    };
    void learn_word(std::string_view word, std::string replacement, bool distinctive);
    void learn_host(std::string_view name);
    std::string host_name(std::string_view name);
    std::string host_lines(std::string_view content);
    void learn_serial(std::string_view path, std::string_view value);
    void learn_hardware_id(std::string_view value, int base);
    void learn_files(const host::Sysroot& source);
    std::size_t word_at(std::string_view text, std::size_t at, bool only_distinctive,
                        std::string& replacement) const;
    std::size_t home_at(std::string_view text, std::size_t at, std::string& replacement);
    std::size_t labelled_serial_at(std::string_view text, std::size_t at, std::string& replacement);
    std::size_t identity_at(std::string_view text, std::size_t at, Vocabulary vocabulary,
                            std::string& replacement);
    std::string account_lines(std::string_view content, bool groups);
    std::string hardware_ids(std::string_view content);

    Pseudonyms pseudonyms_;
    std::map<std::string, Word, std::less<>> words_;  ///< by lower case
    std::size_t longest_word_ = 0;
};

/// Values behind password=, token: and the like, and user:password@ in URLs, replaced by REDACTED or removed.
std::string without_secrets(std::string_view text);
/// PCI config space without the serial number capability (PCI Express Base Specification, extended capability
/// id 3).
std::string without_device_serial(std::string config);
/// NUL-separated words of /proc/PID/cmdline: those of the vendors' daemons, else the program alone.
std::string command_line(const std::string& content);
/// NUL-separated assignments of /proc/PID/environ that may be shown.
std::string environment_block(const std::string& content);
/// May this binary content be written? Firmware tables and the like hold serials where no text rule finds
/// them.
bool is_known_binary(std::string_view path);

}  // namespace gpucheck::capture
