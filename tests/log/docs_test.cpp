// The page of each kernel-log code is the catalogue's row and nothing else, so that page, `explain` and
// report cannot disagree. GPUCHECK_WRITE_DOCS=1 writes the pages instead of comparing them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "checks/specs/catalogue.h"
#include "checks/specs/events.h"
#include "tests/source_dir.h"

namespace gpucheck {
namespace {

void list(std::ostringstream& page, const char* heading, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    page << "\n## " << heading << "\n\n```\n";
    for (const std::string& line : lines) page << line << "\n";
    page << "```\n";
}

std::string page_of(const CatalogueRow& row, const EventRow* event) {
    std::ostringstream page;
    page << "# " << row.code << ": " << row.title << "\n\n"
         << "| worst verdict | who can mend it | next step |\n|---|---|---|\n"
         << "| " << name_of(row.severity) << " | " << name_of(row.scope) << " | " << name_of(row.action)
         << " |\n\n"
         << "## Cause\n\n"
         << row.cause << "\n\n## What to do\n\n"
         << row.remedy << "\n";
    if (event != nullptr) {
        if (event->xid != 0) {
            page << "\n## Lines that report it\n\n`NVRM: Xid (PCI:ADDRESS): " << event->xid
                 << ", ...`: the code is the number after the address; other numbers in the text are not "
                    "codes.\n";
        }
        list(page, "Lines that report it", event->match);
        list(page, "Further lines of the same report, not counted", event->detail);
        list(page, "Lines that count only together with such a report", event->hint);
        if (!event->near_miss.empty()) list(page, "Looks like it and is harmless", {event->near_miss});
    }
    if (!row.references.empty()) {
        page << "\n## References\n\n";
        for (const std::string& reference : row.references) page << "- " << reference << "\n";
    }
    return page.str();
}

TEST(CodePages, AreTheCataloguesRows) {
    const bool write = std::getenv("GPUCHECK_WRITE_DOCS") != nullptr;
    std::size_t pages = 0;
    for (const CatalogueRow& row : catalogue()) {
        const EventRow* event = event_row(row.code);
        if (event == nullptr && !row.code.starts_with("kernel.log.")) continue;
        const std::string path = GPUCHECK_SOURCE_DIR "/docs/codes/" + row.code + ".md";
        const std::string expected = page_of(row, event);
        if (write) std::ofstream(path, std::ios::binary) << expected;
        std::ifstream file(path, std::ios::binary);
        std::stringstream text;
        text << file.rdbuf();
        EXPECT_EQ(text.str(), expected) << path << ": run log_test with GPUCHECK_WRITE_DOCS=1";
        ++pages;
    }
    EXPECT_GE(pages, 180U);
}

TEST(CodePages, EveryXidNumberHasAnAnswer) {
    EXPECT_EQ(xid_event_row(79)->catalogue.code, "xid.79");
    EXPECT_EQ(xid_event_row(42)->catalogue.code, "xid.other");
    EXPECT_EQ(xid_event_row(0)->catalogue.code, "xid.other");
    EXPECT_EQ(xid_event_row(99999)->catalogue.code, "xid.other");
}

TEST(CodePages, EveryRowIsInTheCatalogueOnce) {
    for (const EventRow& row : event_book().rows) {
        const CatalogueRow* found = catalogue_row(row.catalogue.code);
        ASSERT_NE(found, nullptr) << row.catalogue.code;
        EXPECT_EQ(found->title, row.catalogue.title) << row.catalogue.code;
    }
    for (std::size_t i = 1; i < catalogue().size(); ++i)
        EXPECT_NE(catalogue()[i - 1].code, catalogue()[i].code);
}

}  // namespace
}  // namespace gpucheck
