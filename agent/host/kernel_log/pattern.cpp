// Compiles and matches the patterns of events.json; see pattern.h.
#include "agent/host/kernel_log/pattern.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gpucheck::host {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_hex(char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}
bool is_word(char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '-' || c == '.';
}
bool is_alnum(char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

constexpr std::size_t kMaxPairs = 24;
constexpr std::size_t kLongestWord = 64;

}  // namespace

namespace {

// Two tables whose sum is the hash of a pair; upper and lower case are one.
struct PairTables {
    std::array<std::uint16_t, 256> first{}, second{};
};
constexpr PairTables make_pair_tables() {
    PairTables tables;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const unsigned folded = byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
        tables.first.at(byte) = static_cast<std::uint16_t>((folded * 0x9e5U) & 2047U);
        tables.second.at(byte) = static_cast<std::uint16_t>((folded * 0xc2bU + 77U) & 2047U);
    }
    return tables;
}
constexpr PairTables kPairs = make_pair_tables();

// Pairs of letters fill every line; punctuation, capitals and digits in a pattern tell more.
std::size_t rarest_byte(std::string_view text) {
    const auto common = [](char c) {
        if (std::strchr(" etaoinsrd", c) != nullptr) return 3;
        return c >= 'a' && c <= 'z' ? 2 : is_digit(c) || c == ':' || c == '.' ? 2 : 1;
    };
    std::size_t best = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (common(text[i]) < common(text[best])) best = i;
    }
    return best;
}

unsigned pair_commonness(char a, char b) {
    const auto of = [](char c) { return c >= 'a' && c <= 'z' ? 2U : c == ' ' ? 2U : 1U; };
    return of(a) + of(b);
}

}  // namespace

std::uint16_t LineFilter::pair_of(char a, char b) {
    return static_cast<std::uint16_t>(kPairs.first[static_cast<unsigned char>(a)] + kPairs.second[static_cast<unsigned char>(b)]);
}

void LineFilter::set(std::string_view line) {
    bits_.fill(0);
    bits_[kAlways >> 6U] |= std::uint64_t{1} << (kAlways & 63U);
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        const unsigned pair = pair_of(line[i], line[i + 1]);
        bits_[pair >> 6U] |= std::uint64_t{1} << (pair & 63U);
    }
}

std::optional<Pattern::Piece> Pattern::capture_of(std::string_view inside) {
    const std::size_t test = inside.find_first_of("=!<>");
    const std::string_view name = inside.substr(0, test);
    Piece piece;
    if (name == "n")
        piece.kind = Kind::number;
    else if (name == "hex")
        piece.kind = Kind::hex;
    else if (name == "bdf")
        piece.kind = Kind::bdf;
    else if (name == "word")
        piece.kind = Kind::word;
    else if (name == "unit")
        piece.kind = Kind::unit;
    else if (name == "*")
        piece.kind = Kind::any;
    else
        return std::nullopt;
    if (test == std::string_view::npos) return piece;
    std::string_view rest = inside.substr(test);
    if (rest.starts_with("!=")) {
        piece.test = Test::unequal;
        rest.remove_prefix(2);
    } else {
        piece.test = rest[0] == '=' ? Test::equal : rest[0] == '>' ? Test::greater : Test::less;
        rest.remove_prefix(1);
    }
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), piece.operand);
    if (parsed.ec != std::errc{} || parsed.ptr != rest.data() + rest.size()) return std::nullopt;
    return piece;
}

std::optional<Pattern> Pattern::compile(std::string_view text, bool ignore_case) {
    Pattern pattern;
    pattern.ignore_case_ = ignore_case;
    while (!text.empty()) {
        const std::size_t open = text.find('{');
        if (open != 0) {
            const std::string_view literal = text.substr(0, open);
            pattern.pieces_.push_back({Kind::literal, Test::none, 0, std::string(literal), rarest_byte(literal)});
            text.remove_prefix(literal.size());
            continue;
        }
        const std::size_t close = text.find('}');
        if (close == std::string_view::npos) return std::nullopt;
        std::optional<Piece> piece = capture_of(text.substr(1, close - 1));
        if (!piece) return std::nullopt;
        pattern.pieces_.push_back(std::move(*piece));
        text.remove_prefix(close + 1);
    }
    if (pattern.pieces_.empty() || pattern.pieces_.front().kind == Kind::any) return std::nullopt;
    const bool captures_first = pattern.pieces_.front().kind != Kind::literal;
    if (captures_first && (pattern.pieces_.size() < 2 || pattern.pieces_[1].kind != Kind::literal)) return std::nullopt;
    for (std::size_t i = 0; i < pattern.pieces_.size(); ++i) {
        const bool last = i + 1 == pattern.pieces_.size();
        if (pattern.pieces_[i].kind == Kind::any && (last || pattern.pieces_[i + 1].kind != Kind::literal))
            return std::nullopt;
    }
    // Pairs from all literals, the telling ones first.
    std::vector<std::pair<unsigned, std::uint16_t>> pairs;
    for (const Piece& piece : pattern.pieces_) {
        for (std::size_t i = 0; i + 1 < piece.text.size(); ++i) {
            const char x = piece.text[i], y = piece.text[i + 1];
            pairs.emplace_back(pair_commonness(x, y), LineFilter::pair_of(x, y));
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (std::size_t i = 0; i < pairs.size() && i < kMaxPairs; ++i) pattern.pairs_.push_back(pairs[i].second);
    if (pattern.pairs_.empty()) pattern.pairs_.push_back(LineFilter::kAlways);
    return pattern;
}

bool Pattern::equal(std::string_view a, std::string_view b) const {
    if (!ignore_case_) return a == b;
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::size_t Pattern::find(std::string_view line, const Piece& literal, std::size_t from) const {
    const std::string& text = literal.text;
    if (from > line.size() || line.size() - from < text.size()) return std::string_view::npos;
    const std::size_t last = line.size() - text.size();
    if (!ignore_case_) {
        for (std::size_t i = from; i <= last;) {
            const void* hit = std::memchr(line.data() + i + literal.rare, text[literal.rare], last - i + 1);
            if (hit == nullptr) return std::string_view::npos;
            i = static_cast<std::size_t>(static_cast<const char*>(hit) - line.data()) - literal.rare;
            if (std::memcmp(line.data() + i, text.data(), text.size()) == 0) return i;
            ++i;
        }
        return std::string_view::npos;
    }
    for (std::size_t i = from; i <= last; ++i) {
        if (equal(line.substr(i, text.size()), text)) return i;
    }
    return std::string_view::npos;
}

bool Pattern::holds(const Piece& piece, std::int64_t value) {
    switch (piece.test) {
        case Test::none:
            return true;
        case Test::equal:
            return value == piece.operand;
        case Test::unequal:
            return value != piece.operand;
        case Test::greater:
            return value > piece.operand;
        case Test::less:
            return value < piece.operand;
    }
    return false;
}

bool Pattern::piece(const Piece& piece, std::string_view line, std::size_t& at, Captures& captures) const {
    std::string_view rest = line.substr(at);
    std::size_t length = 0;
    switch (piece.kind) {
        case Kind::literal:
            if (rest.size() < piece.text.size() || !equal(rest.substr(0, piece.text.size()), piece.text))
                return false;
            at += piece.text.size();
            return true;
        case Kind::number: {
            if (!rest.empty() && rest[0] == '-') ++length;
            while (length < rest.size() && is_digit(rest[length])) ++length;
            std::int64_t value = 0;
            const auto parsed = std::from_chars(rest.data(), rest.data() + length, value);
            if (parsed.ec != std::errc{} || !holds(piece, value)) return false;
            if (!captures.number) captures.number = value;
            break;
        }
        case Kind::hex: {
            const std::size_t skip = rest.starts_with("0x") || rest.starts_with("0X") ? 2 : 0;
            length = skip;
            while (length < rest.size() && is_hex(rest[length])) ++length;
            std::uint64_t value = 0;
            const auto parsed = std::from_chars(rest.data() + skip, rest.data() + length, value, 16);
            if (parsed.ec != std::errc{}) return false;
            if (piece.test != Test::none &&
                !holds(piece, value > 0x7fffffff ? 0x7fffffff : static_cast<std::int64_t>(value))) {
                return false;
            }
            if (!captures.hex) captures.hex = value;
            break;
        }
        case Kind::bdf: {
            const std::size_t skip = rest.starts_with("PCI:") ? 4 : 0;
            length = skip;
            while (length < rest.size() &&
                   (is_hex(rest[length]) || rest[length] == ':' || rest[length] == '.'))
                ++length;
            while (length > skip && (rest[length - 1] == ':' || rest[length - 1] == '.')) --length;
            const std::optional<Bdf> bdf = Bdf::parse(rest.substr(skip, length - skip));
            if (!bdf) return false;
            if (!captures.bdf) captures.bdf = bdf;
            break;
        }
        case Kind::word:
        case Kind::unit:
            while (length < rest.size() &&
                   (is_word(rest[length]) || (piece.kind == Kind::unit && rest[length] == ':')))
                ++length;
            if (length == 0) return false;
            if (piece.kind == Kind::unit) captures.unit = rest.substr(0, length);
            break;
        case Kind::any:
            return false;
    }
    at += length;
    return true;
}

Pattern::Outcome Pattern::at(std::string_view line, std::size_t begin, Captures& captures) const {
    // Start of the current run of pieces after the last {*}, and where in the line that run may begin.
    std::size_t run = 0, from = begin, at = begin;
    bool floating = false;
    Captures found;
    for (std::size_t i = 0; i < pieces_.size();) {
        if (pieces_[i].kind == Kind::any) {
            run = i + 1;
            floating = true;
            from = find(line, pieces_[run], at);
            if (from == std::string_view::npos) return Outcome::never;
            at = from;
            i = run;
            continue;
        }
        if (piece(pieces_[i], line, at, found)) {
            ++i;
            continue;
        }
        if (!floating) return Outcome::no;
        from = find(line, pieces_[run], from + 1);
        if (from == std::string_view::npos) return Outcome::never;
        at = from;
        i = run;
    }
    captures = found;
    return Outcome::yes;
}

bool Pattern::matches(std::string_view line, Captures& captures) const {
    const Piece& first = pieces_.front();
    if (first.kind == Kind::literal) {
        for (std::size_t i = find(line, first, 0); i != std::string_view::npos;
             i = find(line, first, i + 1)) {
            const Outcome outcome = at(line, i, captures);
            if (outcome != Outcome::no) return outcome == Outcome::yes;
        }
        return false;
    }
    // A capture in front takes the word that ends where the literal behind it begins.
    const Piece& anchor = pieces_[1];
    for (std::size_t i = find(line, anchor, 0); i != std::string_view::npos; i = find(line, anchor, i + 1)) {
        std::size_t begin = i;
        while (begin > 0 && i - begin < kLongestWord && (is_word(line[begin - 1]) || line[begin - 1] == ':')) --begin;
        if (begin == i) continue;
        const Outcome outcome = at(line, begin, captures);
        if (outcome != Outcome::no) return outcome == Outcome::yes;
    }
    return false;
}

bool Pattern::says(std::string_view text) const {
    return std::any_of(pieces_.begin(), pieces_.end(),
                       [&](const Piece& piece) { return piece.text.find(text) != std::string::npos; });
}

std::string_view Pattern::longest_literal() const {
    std::string_view longest;
    for (const Piece& piece : pieces_) {
        if (piece.text.size() > longest.size()) longest = piece.text;
    }
    return longest;
}

bool Pattern::names_device() const {
    return std::any_of(pieces_.begin(), pieces_.end(),
                       [](const Piece& piece) { return piece.kind == Kind::bdf; });
}

}  // namespace gpucheck::host
