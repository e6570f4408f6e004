"""Validates every data file against its JSON Schema (2020-12), and that each schema refuses what it must.

Exit status 77 tells ctest that the test was skipped: python3-jsonschema is not installed.
"""
import copy
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

ROOT = pathlib.Path(sys.argv[1])
FILES = {
    "checks/specs/gpus.json": "checks/specs/gpus.schema.json",
    "checks/specs/instances.json": "checks/specs/instances.schema.json",
    "checks/catalogue.json": "checks/specs/catalogue.schema.json",
    "checks/cost/data/models.json": "checks/cost/data/models.schema.json",
    "checks/cost/data/board_rates.json": "checks/cost/data/board_rates.schema.json",
    "checks/cost/data/reference_rows.json": "checks/cost/data/reference_rows.schema.json",
    "checks/cost/data/prices.json": "checks/cost/data/prices.schema.json",
    "providers/render/faults.json": "providers/render/faults.schema.json",
}


def unique(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), f"member named twice: {names}"
    return dict(pairs)


def load(path):
    return json.loads((ROOT / path).read_text(encoding="utf-8"), object_pairs_hook=unique)


def spoilt(path, document):
    """Copies of the document that a schema must refuse, with what is wrong."""
    rows = {"checks/specs/gpus.json": "boards", "checks/specs/instances.json": "rows", "checks/catalogue.json": "codes",
            "checks/cost/data/models.json": "models", "checks/cost/data/board_rates.json": "boards",
            "checks/cost/data/reference_rows.json": "rows", "checks/cost/data/prices.json": "prices",
            "providers/render/faults.json": "faults"}
    name = rows[path]
    for field in list(document[name][0]):
        bad = copy.deepcopy(document)
        bad[name][0][field] = {"no": "such thing"}
        yield f"{field} of another type", bad
    bad = copy.deepcopy(document)
    bad[name][0]["unheard_of"] = 1
    yield "an unknown field", bad
    bad = copy.deepcopy(document)
    bad[name][0] = {}
    yield "an empty row", bad


failures = 0
for data_path, schema_path in FILES.items():
    schema = load(schema_path)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    document = load(data_path)
    for error in validator.iter_errors(document):
        print(f"{data_path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
        failures += 1
    for what, bad in spoilt(data_path, document):
        if validator.is_valid(bad):
            print(f"{schema_path} accepts {what}")
            failures += 1
print(f"{len(FILES)} files, {failures} complaints")
sys.exit(1 if failures else 0)
