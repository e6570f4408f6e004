"""What a report and a summary claim beyond what they saw: a GPU counted twice, files passed over, peers that nobody compared."""
import json

from harness import check, fleet, healthy, write
from reports import failing, report


def told(*arguments):
    done = fleet("summary", *arguments)
    return done.returncode, " ".join(done.stdout.decode().split())


def spoiled(scratch, what, change, fine):
    """Sixteen nodes, all of them changed. `fine`: accepted; None: read at least, whatever is decided."""
    nodes = healthy()
    for made in nodes:
        change(made)
    code, text = told(write(scratch / what.replace(" ", "-"), nodes))
    check(what, ("contradicts itself" not in text and "is that of another GPU" not in text and (fine is None or code == 0)) if fine is not False else
          (code == 2 and ("contradicts itself" in text or "is that of another GPU" in text)), (code, text[:600]))


def twins(scratch):
    def both(board, **members):
        def change(made):
            for gpu in made["gpus"]:
                gpu["board_key"] = board
            made["gpus"][1].update({name: made["gpus"][0][name] if value is True else value for name, value in members.items()})
        return change

    def everyone(**members):
        return lambda made: [gpu.update(members) for gpu in made["gpus"]]
    h100, mi250x = "h100-sxm-80gb", "mi250x"
    spoiled(scratch, "one uuid in two slots", both(h100, uuid=True), False)
    spoiled(scratch, "one serial in two slots", both(h100, serial=True), False)
    spoiled(scratch, "one AMD serial in two slots", both("mi300x", serial=True), False)
    spoiled(scratch, "one uuid in all slots", everyone(uuid="GPU-1", serial=None), False)
    spoiled(scratch, "one uuid of two dies", both(mi250x, uuid=True), False)
    spoiled(scratch, "two dies of one board", both(mi250x, serial=True), None)  # far too fast for one
    spoiled(scratch, "placeholders", everyone(uuid="00000000-0000-0000-0000-000000000000", serial="N/A"), True)
    spoiled(scratch, "no identity", everyone(uuid=None, serial=None), True)
    fault = failing(16)
    fault["gpus"][1]["uuid"] = fault["gpus"][0]["uuid"]
    check("one that fails is believed", told(write(scratch / "fails", healthy() + [fault]))[0] == 1)


def hardware(scratch):
    def memory(size, **members):
        return lambda made: [gpu.update(memory_bytes=size, **members) for gpu in made["gpus"]]
    spoiled(scratch, "measured without a driver", lambda made: made["gpu_count"].update(bound=0), False)
    spoiled(scratch, "bound is not known", lambda made: made["gpu_count"].update(bound=None), None)
    spoiled(scratch, "a byte of memory", memory(1, mig=False), False)
    spoiled(scratch, "thrice the memory", memory(240 << 30, mig=False), False)
    spoiled(scratch, "a whole GPU", memory(85520809984, mig=False), True)
    spoiled(scratch, "a fifth held back", memory(64 << 30, mig=False), True)
    spoiled(scratch, "cut into parts", memory(10 << 30, mig=True, mig_instances=7), True)


def ties(scratch):
    for seed in (1, 2):  # which id is the higher
        nodes = healthy(seed=3 - seed) + [failing(3, seed=seed)]
        check("of one second the worse counts", told(write(scratch / f"tie{seed}", nodes))[0] == 1)
    again = healthy(seed=2) + [failing(3, seed=1, created="2026-11-30T09:59:59Z")]
    check("an older one does not", told(write(scratch / "older", again), "--now", "2026-11-30T12:00:00Z")[0] != 1)


def passed_over(scratch):
    folder = write(scratch / "names", healthy())
    one = json.dumps(report(16))
    for name, unread in (("n.txt", False), ("n.json.tmp", False), ("n.JSON", True), ("n.json.bz2", True), (".n.json", None)):
        (folder / name).write_text(one)
        code, text = told(folder)
        over = "1 file of the folders was passed over" in text and f"/{name}" in text
        check(f"a file called {name}", (code, over) == ({True: 2, False: 0, None: 0}[unread], unread is False), (code, text[:500]))
        check(f"an unread {name}", (f"/{name}" in text and "1 input not read" in text) == bool(unread), text[:500])
        document = json.loads(fleet("summary", folder, "--format", "json").stdout)
        check(f"{name} in JSON", (len(document["remarks"]), len(document["rejected"])) == (int(unread is False), int(unread is True)), document["remarks"])
        (folder / name).unlink()


def sentences(scratch):
    def of(name, rules=(), nodes=None, **members):
        policy = scratch / f"{name}.policy"
        policy.write_text(json.dumps({"schema_version": 1, "name": name, "rules": list(rules), **members}))
        return told(write(scratch / name, nodes or healthy()), "--policy", policy)
    clean = "all 16 nodes pass, and none stands out from its peers"
    code, text = of("clean")
    check("a clean fleet", code == 0 and clean in text, text[:400])
    code, text = of("slow", nodes=healthy(15) + [report(15, factor=0.8)])
    check("slow without a rule", "stands out" not in text.split("Slow against")[0] and (code != 0 or "slow against the peers" in text), text[:600])
    bare = healthy()
    for made in bare:
        for gpu in made["gpus"]:
            gpu["measurements"] = {}
    code, text = of("bare", nodes=bare, accept_uncompared=True)
    check("nothing measured", code == 0 and "stands out" not in text and "were compared with peers" in text, (code, text[:400]))
    code, text = of("boards", [{"name": "amd", "decision": "reject", "boards": ["mi300x"], "verdicts": ["fail"]}])
    check("a rule for nobody's board", code == 0 and 'the rule "amd" speaks of mi300x, which no node is known to have' in text, (code, text[:600]))
    code, text = of("own", [{"name": "ours", "decision": "reject", "boards": ["mi300x", "h100-sxm-80gb"], "verdicts": ["fail"]}])
    check("a rule for a board that is there", code == 0 and "speaks of" not in text, (code, text[:600]))

    many = scratch / "many.jsonl"
    many.write_text("{}\n" * 3000)
    check("documents are counted", "3000 inputs not read" in told(many)[1], told(many)[1][:300])
    twin = healthy() + [report(16, node="node-003")]
    twin[-1]["gpus"] = json.loads(json.dumps(twin[3]["gpus"]))
    code, text = told(write(scratch / "twin", twin))
    check("two nodes of one name", code != 0 and "node-003 (aws/i-00003)" in text and "node-003 (aws/i-00016)" in text, (code, text[:900]))


CLAIMS = (twins, hardware, ties, passed_over, sentences)
