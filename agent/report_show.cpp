// `gpucheck report list` and `show`; see report_show.h.
#include "agent/report_show.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

#include "agent/log.h"
#include "agent/report/escape.h"
#include "agent/report/layout.h"
#include "agent/report/report_id.h"
#include "agent/run.h"
#include "checks/json/json.h"
#include "providers/delivery/gzip.h"
#include "providers/delivery/retry.h"
#include "providers/sign/dsse.h"
#include "providers/sign/key_file.h"

namespace gpucheck {
namespace {

using delivery::EntryName;
using delivery::Shelf;
using delivery::Spool;

constexpr std::size_t kMostReport = std::size_t{256} << 20U;

int unusable(const std::string& sentence) {
    log_error(sentence);
    return kUsage;
}

// The URLs behind the names' keys: of the config, and of the entries themselves for receivers that it no
// longer names.
class Receivers {
  public:
    Receivers(Spool& spool, const DeliveryPlan& plan) : spool_(spool) {
        for (const delivery::Sink& sink : plan.configured)
            urls_[delivery::key_of(sink.url)] = delivery::shown(sink.url);
    }
    const std::string& url(Shelf shelf, const EntryName& name) {
        const auto found = urls_.find(name.sink);
        if (found != urls_.end()) return found->second;
        const auto claim = spool_.claim(shelf, name);
        if (!claim) return busy_;
        const auto entry = spool_.read(*claim);
        const auto* read = std::get_if<delivery::Entry>(&entry);
        return read == nullptr ? busy_ : urls_[name.sink] = delivery::shown(read->sink.url);
    }

  private:
    Spool& spool_;
    std::map<std::string, std::string> urls_;
    std::string busy_ = "?";
};

// When it is tried again: not before its receiver is. nullopt: now, or never when it was refused.
std::optional<std::int64_t> next_try(const EntryName& name, const delivery::Hold& hold, std::int64_t now_s) {
    const std::int64_t at = std::max(name.next_try_s, hold.next_try_s);
    return delivery::is_due(at, now_s) ? std::nullopt : std::optional(at);
}

// What the receivers of a shelf said last, each read once.
class Holds {
  public:
    explicit Holds(Spool& spool) : spool_(spool) {}
    const delivery::Hold& of(const std::string& sink) {
        const auto [found, is_new] = holds_.try_emplace(sink);
        if (is_new) found->second = spool_.hold_of(sink);
        return found->second;
    }

  private:
    Spool& spool_;
    std::map<std::string, delivery::Hold> holds_;
};

void add_table(std::string& text, const std::string& title, Spool& spool, Shelf shelf, Receivers& receivers) {
    const std::vector<EntryName> entries = spool.list(shelf);
    if (entries.empty()) return;
    text += title + "\n";
    report::Table table({"Report", "Verdict", "Receiver", "Tries", "Last answer", "Next try"});
    const std::int64_t now_s = std::time(nullptr);
    Holds holds(spool);
    for (const EntryName& name : entries) {
        const auto at = next_try(name, holds.of(name.sink), now_s);
        const std::string when = shelf == Shelf::rejected ? "never" : at ? report::rfc3339_utc(*at) : "now";
        table.add({name.report_id, std::string(name_of(name.verdict)), receivers.url(shelf, name),
                   std::to_string(name.attempts), name.last, when});
    }
    for (const std::string& line : table.lines(table.natural_width())) text += "  " + line + "\n";
}

std::string dropped_sentence(const delivery::Dropped& dropped) {
    std::string list;
    std::uint64_t all = 0;
    for (const Verdict verdict : {Verdict::fail, Verdict::unknown, Verdict::warn, Verdict::pass}) {
        const std::uint64_t count = dropped[static_cast<std::size_t>(verdict)];
        all += count;
        if (count > 0)
            list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(name_of(verdict));
    }
    return all == 0 ? ""
                    : "Dropped undelivered because the spool was full or they were too old: " + list + "\n";
}

std::string list_text(Spool& spool, const DeliveryPlan& plan) {
    std::string text;
    Receivers receivers(spool, plan);
    add_table(text, "Waiting for their receiver", spool, Shelf::pending, receivers);
    add_table(text, "Refused by their receiver (again: gpucheck report flush --rejected)", spool,
              Shelf::rejected, receivers);
    const auto damaged = spool.damaged();
    if (!damaged.empty()) text += "Damaged, in " + plan.spool_folder + "/damaged\n";
    for (const std::string& file : damaged) text += "  " + report::plain(file) + "\n";
    text += dropped_sentence(spool.dropped());
    return text.empty() ? "nothing waits\n" : text;
}

Json json_entries(Spool& spool, Shelf shelf, Receivers& receivers) {
    Json list = Json::array();
    const std::int64_t now_s = std::time(nullptr);
    Holds holds(spool);
    for (const EntryName& name : spool.list(shelf)) {
        const auto at = next_try(name, holds.of(name.sink), now_s);
        list.push_back(
            {{"report_id", name.report_id},
             {"verdict", std::string(name_of(name.verdict))},
             {"receiver", receivers.url(shelf, name)},
             {"attempts", name.attempts},
             {"last", name.last == "-" ? Json() : Json(name.last)},
             {"next_try", shelf == Shelf::rejected || !at ? Json() : Json(report::rfc3339_utc(*at))}});
    }
    return list;
}

std::string list_json(Spool* spool, const DeliveryPlan& plan) {
    Json json{{"spool", plan.spool_folder},
              {"waiting", Json::array()},
              {"rejected", Json::array()},
              {"damaged", Json::array()},
              {"dropped", Json::object()}};
    delivery::Dropped dropped{};
    if (spool != nullptr) {
        Receivers receivers(*spool, plan);
        json["waiting"] = json_entries(*spool, Shelf::pending, receivers);
        json["rejected"] = json_entries(*spool, Shelf::rejected, receivers);
        json["damaged"] = spool->damaged();
        dropped = spool->dropped();
    }
    for (const Verdict verdict : {Verdict::pass, Verdict::warn, Verdict::unknown, Verdict::fail})
        json["dropped"][std::string(name_of(verdict))] = dropped[static_cast<std::size_t>(verdict)];
    return dump_json(json) + "\n";
}

int show_key(const DeliveryPlan& plan, bool id_alone) {
    guard_memory();
    const auto key = plan.key_file.empty() ? sign::own_key(plan.state_folder) : sign::load_key(plan.key_file);
    if (const auto* error = std::get_if<sign::Error>(&key)) return unusable(error->what);
    const auto& loaded = *std::get_if<sign::LoadedKey>(&key);
    if (!loaded.warning.empty()) log_warn(loaded.warning);
    const auto open = sign::public_of(loaded.key);
    if (const auto* error = std::get_if<sign::Error>(&open)) {
        log_error(error->what);
        return kSoftware;
    }
    if (!id_alone) return print(sign::pem_of(*std::get_if<sign::PublicKey>(&open)));
    const auto id = sign::key_id(*std::get_if<sign::PublicKey>(&open));
    if (const auto* error = std::get_if<sign::Error>(&id)) return unusable(error->what);
    return print(*std::get_if<std::string>(&id) + "\n");
}

// The body as it was made: a report or an envelope. nullopt: it cannot be decompressed.
std::optional<std::string> body_of(const delivery::Entry& entry) {
    return entry.gzip ? delivery::decompress(entry.body, kMostReport) : entry.body;
}

int show_entry(const delivery::Entry& entry, bool envelope) {
    const auto body = body_of(entry);
    if (!body) return unusable(entry.report_id + ": it cannot be decompressed");
    const std::string& text = *body;
    const bool is_envelope = entry.content_type == sign::kEnvelopeType;
    if (envelope && !is_envelope) return unusable(entry.report_id + ": kept without a signature");
    if (envelope || !is_envelope) return print(text);
    const auto opened = sign::open_envelope(text);
    if (const auto* error = std::get_if<sign::Error>(&opened))
        return unusable(entry.report_id + ": " + error->what);
    return print(std::get_if<sign::Envelope>(&opened)->payload);
}

int show_kept(Spool& spool, const cli::ReportOptions& options) {
    std::optional<std::pair<Shelf, EntryName>> found;
    for (const Shelf shelf : {Shelf::pending, Shelf::rejected}) {
        for (const EntryName& name : spool.list(shelf)) {
            if (name.report_id.compare(0, options.id.size(), options.id) != 0) continue;
            if (found && found->second.report_id != name.report_id)
                return unusable(options.id + ": several reports begin so");
            found = {shelf, name};
        }
    }
    if (!found) return unusable(options.id + ": no such report waits (gpucheck report list)");
    const auto claim = spool.claim(found->first, found->second);
    if (!claim) return unusable(found->second.report_id + ": is being delivered at this moment");
    const auto entry = spool.read(*claim);
    if (const auto* error = std::get_if<std::string>(&entry)) return unusable(*error);
    return show_entry(*std::get_if<delivery::Entry>(&entry), options.envelope);
}

}  // namespace

int list_reports(const DeliveryPlan& plan, bool json) {
    auto found = Spool::existing(plan.spool_folder, plan.bounds);
    if (const auto* error = std::get_if<disk::Error>(&found)) return unusable(error->what);
    auto& spool = *std::get_if<std::optional<Spool>>(&found);
    if (json) return print(list_json(spool ? &*spool : nullptr, plan));
    return print(spool ? list_text(*spool, plan) : std::string("nothing waits\n"));
}

int show_report(const DeliveryPlan& plan, const cli::ReportOptions& options) {
    if (options.key_id || options.public_key) return show_key(plan, options.key_id);
    if (options.id.empty())
        return unusable("name a report (gpucheck report list), or give --key-id or --public-key");
    auto found = Spool::existing(plan.spool_folder, plan.bounds);
    if (const auto* error = std::get_if<disk::Error>(&found)) return unusable(error->what);
    auto& spool = *std::get_if<std::optional<Spool>>(&found);
    if (!spool) return unusable(options.id + ": nothing waits");
    return show_kept(*spool, options);
}

}  // namespace gpucheck
