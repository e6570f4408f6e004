#!/usr/bin/env python3
"""The cloud-init examples: valid, unable to fail a boot, and idempotent.

usage: cloud_config.py SOURCE_DIR
Judged by cloud-init's own JSON schema where its package is at hand (GPUCHECK_CLOUD_INIT_DEB=FILE, or apt-get), else only by what
follows. Skipped (77) without PyYAML.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cloud_init_package import unpacked

SKIPPED = 77
CODE = r"#!/bin/(?:sh|bash)"


def schema_of(scratch):
    folder = unpacked(scratch)
    found = list(folder.rglob("schema-cloud-config-v1.json")) if folder else []
    return json.loads(found[0].read_text()) if found else None


def top_level_keys(schema):
    """The Debian 12 schema lets a misspelt key pass; newer ones do not."""
    keys = set()
    for definition in schema.get("$defs", {}).values():
        keys |= set(definition.get("properties", {}))
    return keys | {"merge_how", "merge_type", "vendor_data"}


def scripts_of(config):
    for file in config.get("write_files", []):
        if re.match(CODE, file.get("content", "")):
            yield file["path"], file["content"]
    for command in config.get("runcmd", []):
        yield "runcmd", command if isinstance(command, str) else " ".join(command)


def judge_settings(name, text, schema, problems):
    """A configuration file of gpucheck inside an example."""
    settings = json.loads(text)
    if schema:
        import jsonschema
        for error in jsonschema.Draft202012Validator(schema).iter_errors(settings):
            problems.append(f"{name}: config.json: {error.message}")


def judge_config(name, text, config, settings_schema, problems):
    if text.split("\n", 1)[0] != "#cloud-config":
        problems.append(f"{name}: the first line is not #cloud-config: cloud-init would take it for something else")
    for file in config.get("write_files", []):
        if not isinstance(file.get("permissions"), str):
            problems.append(f"{name}: {file.get('path')}: permissions have to be a quoted text")
        if file["path"].endswith(".json"):
            judge_settings(name, file["content"], settings_schema, problems)
        if re.search(r"(token|secret|password)[\"']?\s*[:=]\s*[\"'](?!report-token)", file["content"], flags=re.I):
            problems.append(f"{name}: {file['path']}: a secret in user-data is readable by every process of the instance")
    for where, script in scripts_of(config):
        done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, timeout=30)
        if done.returncode:
            problems.append(f"{name}: {where}: {done.stderr}")
        for line in script.splitlines():
            if re.search(r"\bsystemctl (start|restart|enable --now)\b", line) and "--no-block" not in line:
                problems.append(f"{name}: {where}: waits for a unit that waits for cloud-init: {line.strip()}")
    # The exit status of runcmd is that of its last command.
    last = config.get("runcmd", [None])[-1]
    if last is not None and "||" not in last:
        problems.append(f"{name}: a failure of the last command of runcmd would be a failed boot stage")


def run_vendor_script(script, folder, boot_id, instance_id):
    """Runs the per-boot script with every path below `folder` and with programs that only write down that they were called."""
    for name in ("var/lib/gpucheck", "var/lib/cloud/data", "etc/gpucheck", "run", "proc/sys/kernel/random", "bin"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "proc/sys/kernel/random/boot_id").write_text(boot_id + "\n")
    (folder / "var/lib/cloud/data/instance-id").write_text(instance_id + "\n")
    for tool in ("gpucheck", "systemctl"):
        path = folder / "bin" / tool
        path.write_text(f'#!/bin/sh\necho "{tool} $*" >>{folder}/calls\n')
        path.chmod(0o755)
    script = re.sub(r"(?<![\w.])/(var/lib|etc/gpucheck|run|proc/sys)\b", rf"{folder}/\1", script)
    done = subprocess.run(["sh", "-c", script], timeout=30,
                          env=dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}"))
    calls = (folder / "calls").read_text() if (folder / "calls").exists() else ""
    return done.returncode, calls.count("restart --no-block gpucheck-boot.service")


def judge_vendor(config, scratch, problems):
    script = next(text for path, text in scripts_of(config) if "per-boot" in path)
    folder = Path(tempfile.mkdtemp(dir=scratch))
    steps = [("boot-1", "i-1", 1, "the first boot"), ("boot-1", "i-1", 1, "the same boot again"),
             ("boot-2", "i-1", 2, "the next boot"), ("boot-2", "i-2", 3, "another instance from the same image")]
    for boot, instance, expected, what in steps:
        status, restarts = run_vendor_script(script, folder, boot, instance)
        if status != 0 or restarts != expected:
            problems.append(f"vendor-data: {what}: exit status {status}, {restarts} validations, expected {expected}")
    (folder / "etc/gpucheck/disabled").write_text("")
    status, restarts = run_vendor_script(script, folder, "boot-3", "i-2")
    if status != 0 or restarts != 3:
        problems.append(f"vendor-data: opted out: exit status {status}, {restarts} validations")


def main():
    try:
        import yaml
    except ImportError:
        print("skipped: no PyYAML")
        return SKIPPED
    source = Path(sys.argv[1])
    problems, judged = [], 0
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        schema = schema_of(scratch)
        described = source / "docs/config.schema.json"
        settings_schema = json.loads(described.read_text()) if described.exists() else None
        judge_settings("cmake/package", (source / "cmake/package/config.json").read_text(), settings_schema, problems)
        for path in sorted((source / "cloud-init/examples").glob("*.yaml")):
            judged += 1
            text = path.read_text()
            config = yaml.safe_load(text)
            judge_config(path.name, text, config, settings_schema, problems)
            if path.name.startswith("vendor-data"):
                judge_vendor(config, scratch, problems)
            if schema:
                import jsonschema
                for error in jsonschema.Draft4Validator(schema).iter_errors(config):
                    problems.append(f"{path.name}: {'/'.join(map(str, error.path))}: {error.message}")
                for key in set(config) - top_level_keys(schema):
                    problems.append(f"{path.name}: cloud-init knows no {key}")
        seed = source / "cloud-init/nocloud-seed.sh"
        done = subprocess.run([seed, scratch / "seed.img", source / "cloud-init/examples/vendor-data.yaml"], capture_output=True,
                              text=True, timeout=60)
        if done.returncode not in (0, 69):
            problems.append(f"nocloud-seed.sh: {done.stderr}")
        if done.returncode == 0 and b"cidata" not in (scratch / "seed.img").read_bytes()[:65536]:
            problems.append("nocloud-seed.sh: the seed has no label cidata")
    for problem in problems:
        print(problem)
    print(f"{judged} examples, {'judged by cloud-init' + chr(39) + 's schema' if schema else 'without a schema'}, {len(problems)} problems")
    return 1 if problems or judged < 6 else 0


if __name__ == "__main__":
    sys.exit(main())
