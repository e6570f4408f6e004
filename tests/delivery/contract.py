#!/usr/bin/env python3
"""docs/openapi.yaml and docs/config.schema.json say what the program does: real requests and real configs are held against them.

usage: contract.py GPUCHECK MACHINE SOURCE_DIR
"""
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml

from receiver import Receiver, Tool, report_of

GPUCHECK, MACHINE, SOURCE = sys.argv[1], sys.argv[2], Path(sys.argv[3])
PROBLEMS = []
METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def expect(name, ok, detail=""):
    print(("ok   " if ok else "FAIL ") + name + ("" if ok else f": {detail}"))
    if not ok:
        PROBLEMS.append(name)


def references(node):
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def lookup(document, reference):
    node = document
    for part in reference.removeprefix("#/").split("/"):
        node = node[part]
    return node


def resolved(document, schema):
    """Without $refs, so that a plain JSON Schema validator reads it."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return resolved(document, lookup(document, schema["$ref"]))
        return {k: resolved(document, v) for k, v in schema.items()}
    return [resolved(document, v) for v in schema] if isinstance(schema, list) else schema


def shape(document):
    """The parts of OpenAPI 3.1 (specification, section 4.8) that this document uses."""
    expect("openapi 3.1 with title, version and paths", re.fullmatch(r"3\.1\.\d+", document["openapi"]) and document["info"]["title"]
           and document["info"]["version"] and document["paths"])
    for reference in references(document):
        expect(f"{reference} leads somewhere", lookup(document, reference))
    for path, item in document["paths"].items():
        expect(f"{path} begins with a slash and has methods alone", path.startswith("/") and set(item) <= METHODS, item.keys())
        for operation in item.values():
            expect("an operation has an id and answers", operation["operationId"] and operation["responses"])
            for parameter in operation["parameters"]:
                expect(f"parameter {parameter['name']} has a place and a schema", parameter["in"] in ("header", "query", "path", "cookie") and "schema" in parameter)
                jsonschema.Draft202012Validator.check_schema(resolved(document, parameter["schema"]))
            for status, response in operation["responses"].items():
                expect(f"answer {status} is described", re.fullmatch(r"[1-5](\d\d|XX)|default", status) and response["description"])
            for requirement in operation.get("security", []):
                expect("a security scheme that is there", set(requirement) <= set(document["components"]["securitySchemes"]))
    for name, schema in document["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(resolved(document, schema))
        print(f"ok   schema {name}")


def validator(document, schema):
    return jsonschema.Draft202012Validator(resolved(document, schema), format_checker=jsonschema.FormatChecker())


def request_follows(document, headers, body, name):
    operation = document["paths"]["/v1/reports"]["post"]
    problems, known = [], {"host", "user-agent", "accept", "accept-encoding", "content-length", "content-type", "authorization", ":request"}
    for parameter in operation["parameters"]:
        value = headers.get(parameter["name"].lower())
        known.add(parameter["name"].lower())
        if value is None:
            problems += [f"lacks {parameter['name']}"] if parameter["required"] else []
        else:
            problems += [f"{parameter['name']}: {e.message}" for e in validator(document, parameter["schema"]).iter_errors(value)]
    problems += [f"undocumented {h}" for h in headers if h not in known]
    content = operation["requestBody"]["content"]
    media = headers["content-type"]
    problems += [] if media in content else [f"undocumented media type {media}"]
    plain = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
    if media in content:
        problems += [e.message[:200] for e in validator(document, content[media]["schema"]).iter_errors(json.loads(plain))]
    report = report_of(headers, body)
    problems += [e.message[:200] for e in validator(document, document["components"]["schemas"]["Report"]).iter_errors(report)]
    problems += [] if headers["idempotency-key"] == headers["ce-id"] == report["report_id"] else ["key, ce-id and report_id differ"]
    problems += [] if headers["ce-time"] == report["created"] else ["ce-time is another time"]
    schema = json.loads((SOURCE / "docs/report.schema.json").read_text())
    problems += [e.message[:200] for e in jsonschema.Draft202012Validator(schema).iter_errors(report)]
    expect(name, not problems, problems)


def requests(document, folder):
    receiver = Receiver(remember=True)
    for number, (name, settings) in enumerate([("a signed report", {}), ("an unsigned report", {"key_file": "/dev/null"})]):
        enrolment = folder / "enrolment"
        enrolment.write_text("0ne-time")
        enrolment.chmod(0o600)
        proof = {"prove_identity": True, "enrolment_token_file": str(enrolment)} if number == 0 else {}
        tool = Tool(GPUCHECK, folder / str(number), [{"url": receiver.url} | proof], **settings)
        tool.run("run", "--machine", MACHINE, "--format", "json")
        request_follows(document, *receiver.requests[-1], f"{name} is sent as the document says")
    expect("an enrolment token is sent where it is asked for", [h.get("gpucheck-identity") for h, _ in receiver.requests] == ["0ne-time", None])
    types = {headers["content-type"] for headers, _ in receiver.requests}
    expect("both media types were seen", types == set(document["paths"]["/v1/reports"]["post"]["requestBody"]["content"]), types)
    receiver.close()


SINK = {"url": "https://h.example/r"}
GOOD = [{}, {"provider": "aws", "instance_type": "p5.48xlarge"}, {"price_usd_per_hour": 2}, {"price_usd_per_hour": 0.001}, {"price_usd_per_hour": 100000}, {"expect": {"gpu_count": 8, "ecc": True, "board": "mi300x"}},
        {"metadata": "off"}, {"provider_token_file": "/t"}, {"state_folder": "/x", "key_file": "/k"}, {"spool": {"max_mib": 1, "max_reports": 1, "max_days": 1}}, {"sinks": []},
        {"sinks": [SINK | {"token_file": "/t", "ca_file": "/c", "timeout_s": 0.5, "pin": "sha256//" + "A" * 43 + "="}]},
        {"sinks": [SINK | {"token_credential": "t"}]}, {"sinks": [SINK | {"prove_identity": True, "enrolment_token_file": "/e"}]}, {"sinks": [{"url": "http://h.example/", "insecure_http": True}]}]
BAD = [[], {"sinkz": []}, {"provider": 7}, {"provider": ""}, {"instance_type": "x"}, {"price_usd_per_hour": 0}, {"price_usd_per_hour": 0.0009}, {"price_usd_per_hour": 100001}, {"expect": []}, {"expect": {"gpu_count": 1.5}},
       {"metadata": "maybe"}, {"provider_token_file": "t"}, {"state_folder": "x"}, {"key_file": "k"}, {"spool": {"max_mib": 0}}, {"spool": {"more": 1}}, {"sinks": [{}]},
       {"sinks": [SINK | {"token": "x"}]}, {"sinks": [SINK | {"token_file": "t"}]}, {"sinks": [SINK | {"token_file": "/t", "token_credential": "t"}]},
       {"sinks": [SINK | {"token_credential": "a/b"}]}, {"sinks": [SINK | {"pin": "x"}]}, {"sinks": [SINK | {"enrolment_token_file": "/e"}]}, {"sinks": [SINK | {"timeout_s": 601}]}, {"sinks": [{"url": "ftp://h/"}]},
       {"sinks": [{"url": "https://u@h/"}]}, {"sinks": [SINK] * 17}]


def configs(folder):
    schema = json.loads((SOURCE / "docs/config.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for good, samples in ((True, GOOD), (False, BAD)):
        for sample in samples:
            file = folder / "config.json"
            file.write_text(json.dumps(sample))
            status = subprocess.run([GPUCHECK, "report", "list", "--config", str(file)], capture_output=True).returncode
            expect(f"program and schema agree on {json.dumps(sample)[:70]}", (status == 0) == check.is_valid(sample) == good, f"{status} {check.is_valid(sample)}")
    document = (SOURCE / "docs/config.md").read_text()
    example = json.loads(re.search(r"```json\n(.*?)```", document, re.S).group(1))
    expect("config.md's example is valid", check.is_valid(example))
    keys = set(schema["properties"]) | set(schema["properties"]["sinks"]["items"]["properties"])
    expect("config.md names every key", all(f"`{k}" in document for k in keys), [k for k in keys if f"`{k}" not in document])


def main():
    document = yaml.safe_load((SOURCE / "docs/openapi.yaml").read_text())
    shape(document)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(2):
            (folder / str(number)).mkdir()
        requests(document, folder)
        configs(folder)
    print(f"{len(PROBLEMS)} problems")
    return 1 if PROBLEMS else 0


if __name__ == "__main__":
    sys.exit(main())
