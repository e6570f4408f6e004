#!/usr/bin/env python3
"""The manifests: every field is one of the published API, every pod has the least rights, nothing that a report needs is lost.

usage: manifests.py SOURCE_DIR
No API server is asked. Fields are compared with the list below. Where kubectl is, it reads each manifest into Kubernetes' own types, and no
field may get lost; where node and the npm package kubernetes-models are (NODE_PATH), values are validated by the published OpenAPI schemas.
What is not there is said.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

FOLDER = Path(sys.argv[1]).resolve() / "fleet/kubernetes"
problems = []
S, I, B = str, int, bool

SECURITY = {"runAsUser": I, "runAsGroup": I, "runAsNonRoot": B, "seccompProfile": {"type": S}}
MOUNT = {"name": S, "mountPath": S, "readOnly": B}
RESOURCES = {"requests": dict, "limits": dict}
CONTAINER = {"name": S, "image": S, "imagePullPolicy": S, "command": [S], "args": [S], "env": [{"name": S, "value": S}],
             "securityContext": {"allowPrivilegeEscalation": B, "privileged": B, "readOnlyRootFilesystem": B, "capabilities": {"drop": [S]}},
             "resources": RESOURCES, "volumeMounts": [MOUNT]}
VOLUME = {"name": S, "emptyDir": {"sizeLimit": S}, "hostPath": {"path": S, "type": S}, "configMap": {"name": S, "defaultMode": I}}
SELECTOR = {"matchLabels": dict}
POD = {"restartPolicy": S, "automountServiceAccountToken": B, "enableServiceLinks": B, "hostPID": B, "hostNetwork": B, "hostIPC": B,
       "terminationGracePeriodSeconds": I, "activeDeadlineSeconds": I, "runtimeClassName": S, "nodeSelector": dict,
       "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": S, "labelSelector": SELECTOR}]}},
       "tolerations": [{"key": S, "operator": S, "effect": S}], "securityContext": SECURITY, "containers": [CONTAINER], "volumes": [VOLUME]}
TEMPLATE = {"metadata": {"labels": dict}, "spec": POD}
META = {"name": S, "namespace": S, "labels": dict}
KINDS = {("batch/v1", "Job"): {"completionMode": S, "completions": I, "parallelism": I, "backoffLimitPerIndex": I, "activeDeadlineSeconds": I,
                               "ttlSecondsAfterFinished": I, "template": TEMPLATE},
         ("apps/v1", "DaemonSet"): {"selector": SELECTOR, "updateStrategy": {"type": S, "rollingUpdate": {"maxUnavailable": S}}, "template": TEMPLATE},
         ("v1", "Namespace"): None}


def check(what, fine, more=""):
    if not fine:
        problems.append(what)
        print(f"PROBLEM {what}: {more}")


class NoTwice(yaml.SafeLoader):
    """A key that stands twice: the second silently wins."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        check(f"keys once: {keys}", len(keys) == len(set(keys)))
        return super().construct_mapping(node, deep)


def shape(where, value, wanted):
    if wanted is dict:
        check(f"{where} is a map of texts", isinstance(value, dict) and all(isinstance(k, str) for k in value), value)
    elif isinstance(wanted, dict):
        check(f"{where} is an object", isinstance(value, dict), value)
        for key, inner in value.items() if isinstance(value, dict) else []:
            check(f"{where}.{key} is a field of the API", key in wanted)
            if key in wanted:
                shape(f"{where}.{key}", inner, wanted[key])
    elif isinstance(wanted, list):
        check(f"{where} is a list", isinstance(value, list) and value, value)
        for number, inner in enumerate(value if isinstance(value, list) else []):
            shape(f"{where}[{number}]", inner, wanted[0])
    else:
        check(f"{where} is a {wanted.__name__}", type(value) is wanted, value)


def least_rights(name, pod):
    check(f"{name}: no host namespaces", [pod[key] for key in ("hostPID", "hostNetwork", "hostIPC")] == [False] * 3)
    check(f"{name}: no token of the API server", pod["automountServiceAccountToken"] is False)
    check(f"{name}: seccomp", pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"})
    mounted = {volume["name"]: volume for volume in pod["volumes"]}
    for one in pod["containers"]:
        rights = one["securityContext"]
        check(f"{name}: container rights", rights == {"allowPrivilegeEscalation": False, "privileged": False, "readOnlyRootFilesystem": True,
                                                      "capabilities": {"drop": ["ALL"]}}, rights)
        check(f"{name}: bounded", set(one["resources"]["requests"]) <= set(one["resources"]["limits"]))
        check(f"{name}: an image with a version", ":" in one["image"] and not one["image"].endswith(":latest"))
        check(f"{name}: mounts have volumes", {mount["name"] for mount in one["volumeMounts"]} == set(mounted))
        for mount in one["volumeMounts"]:
            host = mounted[mount["name"]].get("hostPath", {}).get("path", "")
            check(f"{name}: of the host only the features' folder", host in ("", "/etc/kubernetes/node-feature-discovery/features.d"), host)


def judge(path, document):
    name, kind = path.name, (document["apiVersion"], document["kind"])
    check(f"{name}: a known kind", kind in KINDS, kind)
    shape(f"{name} metadata", document["metadata"], META)
    if KINDS.get(kind) is None:
        check(f"{name}: nothing else", set(document) == {"apiVersion", "kind", "metadata"})
        return
    check(f"{name}: nothing else", set(document) == {"apiVersion", "kind", "metadata", "spec"})
    spec = document["spec"]
    shape(f"{name} spec", spec, KINDS[kind])
    labels = spec["template"]["metadata"]["labels"]
    least_rights(name, spec["template"]["spec"])
    vendor = path.stem.split("-")[1]
    pod = spec["template"]["spec"]
    container = pod["containers"][0]
    check(f"{name}: tolerates the vendor's taint and the one of new nodes",
          {one["key"] for one in pod["tolerations"]} == {f"{vendor}.com/gpu", "gpucheck.io/unvalidated"})
    gpus = container["resources"]["limits"].get(f"{vendor}.com/gpu")
    if kind[1] == "DaemonSet":
        check(f"{name}: selects its pods", spec["selector"]["matchLabels"].items() <= labels.items())
        check(f"{name}: takes no GPU from jobs", gpus is None)
        return
    check(f"{name}: asks for the GPUs that it expects", f"gpu_count={gpus}" in container["args"] and gpus == 8)
    check(f"{name}: one pod a node", pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"]
          ["matchLabels"].items() <= labels.items())
    check(f"{name}: a failed node ends nobody else's", spec["completionMode"] == "Indexed" and spec.get("backoffLimitPerIndex") == 0
          and spec["completions"] == spec["parallelism"] and pod["restartPolicy"] == "Never")
    budget = int(container["args"][container["args"].index("--budget") + 1])
    check(f"{name}: time for the report before anybody kills", budget + 120 < pod["activeDeadlineSeconds"] < spec["activeDeadlineSeconds"])


def by_published_schemas(documents):
    node = shutil.which("node")
    found = node and subprocess.run([node, "-e", "require('kubernetes-models')"], capture_output=True, timeout=60).returncode == 0
    if not found:
        print("skipped: no npm package kubernetes-models in NODE_PATH: values are not validated by the published schemas")
        return
    script = """
const documents = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const [name, document] of documents) {
    const version = document.apiVersion === 'v1' ? 'v1' : document.apiVersion;
    const Kind = require('kubernetes-models/' + version)[document.kind];
    try { new Kind(document).validate(); } catch (error) { console.log(name + ': ' + error); }
}"""
    done = subprocess.run([node, "-e", script], input=json.dumps(documents), capture_output=True, text=True, timeout=60)
    check("the published schemas", done.returncode == 0 and not done.stdout, done.stdout + done.stderr)
    print(f"{len(documents)} manifests validated by kubernetes-models")


def lost(where, given, read):
    """Fields of `given` that are not in `read`, or are another value there."""
    if isinstance(given, dict):
        return [one for key, value in given.items() for one in (lost(f"{where}.{key}", value, read.get(key)) if isinstance(read, dict) else [where])]
    if isinstance(given, list):
        same = isinstance(read, list) and len(read) == len(given)
        return [one for i, value in enumerate(given) for one in lost(f"{where}[{i}]", value, read[i])] if same else [where]
    # false and 0 of optional fields are left out when written; quantities are texts.
    return [] if given == read or str(given) == str(read) or (given is False and read is None) else [where]


def kubectl(*command):
    done = subprocess.run(["kubectl", *map(str, command), "--local", "-o", "json"], capture_output=True, text=True, timeout=60)
    try:
        return json.loads(done.stdout)
    except ValueError:
        check(f"kubectl {command}", False, done.stdout + done.stderr)
        return {}


def by_kubernetes_types(documents):
    if not shutil.which("kubectl"):
        print("skipped: no kubectl: manifests are not read into Kubernetes' own types")
        return
    pods = [(name, document) for name, document in documents if document["kind"] != "Namespace"]
    for name, document in pods:
        container = document["spec"]["template"]["spec"]["containers"][0]
        container["image"] = "another:1"  # without a change kubectl prints nothing
        read = kubectl("set", "image", "-f", FOLDER / name, f"{container['name']}=another:1")
        check(f"{name}: every field is one of Kubernetes' types", not lost("", document, read), lost("", document, read))
    patch = yaml.safe_load((FOLDER / "npd-patch.yaml").read_text())
    patched = kubectl("patch", "--type", "strategic", "--patch-file", FOLDER / "npd-patch.yaml", "-f", FOLDER / "labels-amd.yaml")
    mine = [one for one in patched["spec"]["template"]["spec"]["containers"] if one["name"] == "node-problem-detector"] if patched else []
    check("npd-patch: a strategic merge patch", mine and not lost("", patch["spec"]["template"]["spec"]["containers"], mine), mine)
    print(f"{len(pods)} manifests and a patch read by kubectl")


def main():
    documents = []
    for path in sorted(FOLDER.glob("*.yaml")):
        read = list(yaml.load_all(path.read_text(), Loader=NoTwice))
        check(f"{path.name}: one document", len(read) == 1)
        if path.name == "npd-patch.yaml":
            shape(path.name, read[0], {"spec": {"template": {"spec": {"containers": [CONTAINER], "volumes": [VOLUME]}}}})
            pod = read[0]["spec"]["template"]["spec"]
            check("npd-patch: reads only", all(mount["readOnly"] for mount in pod["containers"][0]["volumeMounts"]))
            continue
        documents.append((path.name, read[0]))
        judge(path, read[0])
    check("a Job and a DaemonSet for each vendor", sorted(name for name, _ in documents) ==
          ["job-amd.yaml", "job-nvidia.yaml", "labels-amd.yaml", "labels-nvidia.yaml", "namespace.yaml"])
    by_published_schemas(documents)
    by_kubernetes_types(documents)
    if shutil.which("yamllint"):
        rules = "{extends: default, rules: {line-length: {max: 140}, document-start: disable, octal-values: disable, braces: disable}}"
        done = subprocess.run(["yamllint", "-d", rules, *map(str, sorted(FOLDER.glob("*.yaml")))], capture_output=True, text=True, timeout=60)
        check("yamllint", done.returncode == 0, done.stdout)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
