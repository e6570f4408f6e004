"""Validates the JSON samples against docs/report.schema.json, and that the schema refuses reports that lie."""
import copy
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema (4.0 or newer) is not installed")
    sys.exit(77)


def refuse(validator, report, what, change):
    changed = copy.deepcopy(report)
    change(changed)
    if validator.is_valid(changed):
        sys.exit(f"the schema accepts a report {what}")


def main(schema_path, folder):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    paths = sorted(pathlib.Path(folder).glob("*.json"))
    if len(paths) < 10:
        sys.exit(f"only {len(paths)} samples in {folder}")
    for path in paths:
        report = json.loads(path.read_text(encoding="utf-8"))
        for error in validator.iter_errors(report):
            where = "/".join(str(step) for step in error.absolute_path)
            sys.exit(f"{path.name}: {where}: {error.message[:200]}")

    report = json.loads((pathlib.Path(folder) / "failing.json").read_text(encoding="utf-8"))
    for key in schema["required"]:
        refuse(validator, report, f"without {key}", lambda r: r.pop(key))
    refuse(validator, report, "with a finding that passes", lambda r: r["findings"][0].update(verdict="pass"))
    refuse(validator, report, "with an action of its own", lambda r: r["findings"][0].update(action="pray"))
    refuse(validator, report, "that counts with words", lambda r: r["gpu_count"].update(pci="8"))
    refuse(validator, report, "with a GPU without a verdict", lambda r: r["gpus"][0].pop("verdict"))
    refuse(validator, report, "with a GPU that hides why a value is null", lambda r: r["gpus"][0].pop("missing"))
    refuse(validator, report, "of version 2", lambda r: r.update(schema_version="2.0"))
    refuse(validator, report, "that says nothing about what was not checked", lambda r: r["not_checked"][0].update(reason=""))
    report["invented_later"] = {"x": 1}
    if not validator.is_valid(report):
        sys.exit("the schema refuses members of later versions")
    print(f"{len(paths)} reports are valid")


main(sys.argv[1], sys.argv[2])
