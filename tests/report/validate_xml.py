"""Parses the JUnit samples as XML and compares the counts; parses the HTML samples and looks for what a page must not have."""
import html.parser
import pathlib
import sys
import xml.dom.minidom

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.problems = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("src", "href") or (value and "url(" in value):
                self.problems.append(f"<{tag} {name}>")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")


def junit(path):
    document = xml.dom.minidom.parse(str(path))
    suite = document.getElementsByTagName("testsuite")[0]
    for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        found = len(suite.getElementsByTagName(tag))
        if int(suite.getAttribute(attribute)) != found:
            sys.exit(f"{path.name}: {attribute}={suite.getAttribute(attribute)}, but {found} <{tag}>")
    names = [(c.getAttribute("classname"), c.getAttribute("name")) for c in suite.getElementsByTagName("testcase")]
    if len(set(names)) != len(names):
        sys.exit(f"{path.name}: two test cases of one name")


def page(path):
    parser = Page()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    if parser.open or parser.problems:
        sys.exit(f"{path.name}: open {parser.open}, {parser.problems}")
    if {"script", "img", "link", "iframe"} & set(parser.seen):
        sys.exit(f"{path.name}: a page that fetches or runs something")
    for tag in ("title", "h1", "main"):
        if parser.seen.count(tag) != 1:
            sys.exit(f"{path.name}: {parser.seen.count(tag)} <{tag}>")


def main(folder):
    files = pathlib.Path(folder)
    counts = []
    for suffix, look in (("junit", junit), ("html", page)):
        paths = sorted(files.glob("*." + suffix))
        for path in paths:
            look(path)
        counts.append(len(paths))
    if min(counts) < 10:
        sys.exit(f"too few samples: {counts}")
    print(f"{counts[0]} JUnit files and {counts[1]} pages are well-formed")


main(sys.argv[2])
