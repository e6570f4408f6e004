// What `--db` may say and what SQLite's files may be: a password among the arguments is read by every user of
// the machine, and so is a database that others may open.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gpucheck::fleet::collect {

/// A sentence where it is neither a file nor a postgresql:// without a password, in any of the spellings that
/// libpq takes (PostgreSQL 15, 34.1.1): userinfo, a parameter, either percent-encoded, "key=value". It
/// repeats nothing of `database`.
std::optional<std::string> fault_of_database_name(const std::string& database);

/// Takes reading and writing from group and others, of the file, its log and its index where they exist. The
/// names of those that were open, or a sentence where that is not possible.
std::variant<std::vector<std::string>, std::string> close_to_others(const std::string& file);

/// Which files the names of a SQLite database lead to: one that was replaced or removed is written to by
/// nobody else, and what goes into it is gone when it is closed.
class FileIdentity {
  public:
    explicit FileIdentity(std::string file) : file_(std::move(file)) {}
    /// Takes the files as they are now.
    void take();
    /// A sentence where a name leads elsewhere, or nowhere.
    std::optional<std::string> changed() const;

  private:
    struct Place {
        std::uint64_t device = 0, inode = 0;
        bool there = false;
        bool operator==(const Place&) const = default;
    };
    static Place place_of(const std::string& name);

    std::string file_;
    std::array<Place, 3> places_;
};

}  // namespace gpucheck::fleet::collect
