// Writes one structured entry to systemd's journal, so that a fleet can be asked for verdicts by field and
// not by the wording of a line. Own words of the protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL), no library.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpucheck::boot {

using JournalField = std::pair<std::string, std::string>;

inline constexpr const char* kJournalSocket = "/run/systemd/journal/socket";
/// Of every verdict of a boot: journalctl MESSAGE_ID=...
inline constexpr std::string_view kVerdictMessageId = "3f0f4c1e6b4f4f7f9d0a6c2b8e57a410";

/// The datagram. Names that the journal would refuse are left out; a value of several lines goes with its
/// length.
std::string journal_datagram(const std::vector<JournalField>& fields);

/// 0, or the errno: nobody listens on machines without systemd. Never waits.
int send_to_journal(const std::vector<JournalField>& fields, const char* socket_path = kJournalSocket);

}  // namespace gpucheck::boot
