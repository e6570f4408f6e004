"""What must not be believed, and what must be seen: dates, summaries and reports that were cut, names of blanks."""
import json

from harness import NOW, check, fleet, healthy, write
from reports import failing, report


def dates(scratch):
    """A clock that is wrong neither displaces a fault nor makes anybody old."""
    later = report(15, seed=2, created="2099-01-01T00:00:00Z")
    folder = write(scratch / "dates", healthy(15) + [failing(15), later])
    done = fleet("summary", folder)
    check("a report of 2099 does not displace a fault", done.returncode == 1 and b"1 rejected" in done.stdout and
          b"1 report has a date that cannot be believed" in b" ".join(done.stdout.split()), done.stdout)
    alone = write(scratch / "alone", healthy(15) + [later])
    done = fleet("summary", alone)
    check("nobody is accepted on such a date", done.returncode == 2 and b"15 accepted" in done.stdout and
          b"later than now, which is 2026-11-30T12:00:00Z" in b" ".join(done.stdout.split()), done.stdout)
    policy = scratch / "policy.json"
    policy.write_text(json.dumps({"schema_version": 1, "name": "young", "max_age_hours": 48, "rules": []}))
    good = write(scratch / "young", healthy(16))
    for now, status in ((NOW, 0), ("2026-12-02T09:59:00Z", 0), ("2026-12-02T12:01:00+02:00", 2), (None, None)):
        done = fleet("summary", good, "--policy", policy, now=now)
        check(f"age at {now}", status is None or done.returncode == status, done.stdout)
    check("a time that is none", fleet("summary", good, now="yesterday").returncode == 64 and fleet("summary", good, now="2026-11-30").returncode == 64)
    done = fleet("compare", good, write(scratch / "month", healthy(16, seed=2, created="2026-12-30T00:00:00Z")), "--policy", policy, now="2026-12-30T01:00:00Z")
    check("what is compared with may be old", done.returncode == 0, done)


def words(scratch):
    """What an operator reads: no name that is not seen, no sentence twice, no word of the command line unnamed."""
    for name, shown in (("   ", '"\\x20\\x20\\x20"'), ("\u00a0", '"\\xc2\\xa0"'), ("end ", '"end\\x20"'), ("a b", "  a b\n")):
        folder = write(scratch / f"blank-{name.encode().hex()}", healthy(15) + [failing(15, node=name)])
        text = fleet("summary", folder).stdout.decode()
        check(f"the name {name!r} is seen", f"reject  {shown}" in text if shown[0] == '"' else shown in text, text[:600])
    folder = write(scratch / "twice", healthy(15) + [report(15, factor=0.8)])
    text = " ".join(fleet("summary", folder).stdout.decode().split("Slow against")[0].split())
    check("two rules over one outlier say it once", text.count("bf16_tflops 588.6 against") == 1, text)
    rules = [reason["rule"] for row in map(json.loads, fleet("summary", folder, "--format", "jsonl").stdout.splitlines()) for reason in row["reasons"]]
    check("programs see both rules", {"slow", "slow arithmetic"} <= set(rules), rules)
    for typed, near in (("foo", b"summary, baseline"), ("sumary", b"did you mean summary?"), ("Compare", b"did you mean compare?")):
        done = fleet(typed)
        check(f"{typed} is named", done.returncode == 64 and f"'{typed}'".encode() in done.stderr and near in done.stderr and not done.stdout, done)
    labels = scratch / "labels.csv"
    for row, said in (("node-003,r7", False), ("elsewhere,r7", True)):
        labels.write_text(f"node,rack\n{row}\n")
        done = fleet("summary", folder, "--labels", labels)
        check(f"labels of {row}", (b"names none of the nodes" in done.stderr) == said, done.stderr)


def cut(scratch):
    """A summary or report from which something was taken is no evidence."""
    folder = write(scratch / "cut", healthy(15) + [failing(15)])
    whole = json.loads(fleet("summary", folder, "--format", "json").stdout)
    kept = scratch / "kept.json"
    for what, change in (("its bad report", {"reports": [row for row in whole["reports"] if row["verdict"] == "pass"]}), ("its reports", {"reports": []}),
                         ("its nodes", {"nodes": []}), ("its counts", {"counts": {}})):
        kept.write_text(json.dumps({**whole, **change}))
        done = fleet("summary", kept)
        check(f"a summary without {what}", b"is a summary" in done.stdout and
              done.returncode == (2 if "reports" in change else 1), done.stdout)
    kept.write_text(json.dumps(whole))
    check("the whole one is read", fleet("summary", kept).returncode == 1)
    bare = report(15)
    bare["checks"] = bare["checks"][:1]
    named = report(16, injected="")
    for what, each in (("without its checks", bare), ("with a fault without a name", named)):
        done = fleet("summary", write(scratch / what.replace(" ", "-"), healthy(15) + [each]))
        check(f"a report {what}", done.returncode == 2 and done.stdout.startswith(b"NOT ENOUGH"), done.stdout)
