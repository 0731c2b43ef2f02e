# SPDX-License-Identifier: MIT
"""Schema and reference are what the rows say, and a real validator agrees with the loader."""
import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from lab import run_probity

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "config" / "cases"
EXAMPLES = ROOT / "config" / "examples"
DOCUMENTS = {"schema": ROOT / "config" / "probity.schema.json",
             "reference": ROOT / "config" / "reference.md"}

# What the loader refuses and a JSON Schema cannot: why -> cases.
REASONS = {
    "rules between keys":
        "bad-latency-order consul-tls-halves dns-address-without-ptr dns-answers-of-an-error "
        "folder-with-clashes grpc-tls-on-a-socket http-auth-twice "
        "http-json-of-head redis-command-blocks redis-command-unasserted redis-of-two-kinds "
        "redis-tls-on-a-socket redis-user-alone retry-longer-than-interval "
        "script-codes-contradict service-deregister-of-anothers services-beside-service "
        "services-with-loose-checks services-with-one-id tcp-both-of-an-address "
        "tcp-starttls-twice tcp-starttls-unasked tcp-step-empty tcp-step-of-two "
        "tcp-step-reject-alone tcp-steps-with-short tcp-tls-on-a-socket tls-halves "
        "tls-limits-order warning-after-critical no-service",
    "rules between checks":
        "compose-equal-names compose-itself compose-member-twice compose-name "
        "compose-too-many-wanted compose-unknown-probe compose-with-keys-of-runs "
        "duplicate-check-id two-checks-with-one-id",
    "editors flag a second key by themselves":
        "duplicate-key-in-a-check duplicate-key-in-probe duplicate-key-quoted "
        "duplicate-top-level-key merge-with-duplicate",
    "a file without checks may be one of a folder":
        "missing-checks no-checks",
    "a value behind a pattern: limits of times, meaning of texts":
        "bad-pattern dns-names duration-below-minimum duration-without-end duration-zero "
        "ttl-too-short "
        "port-too-large service-reaping-too-soon service-unit-half-a-name",
    "numbers are values to YAML, not texts":
        "count-exponent count-signed count-with-a-leading-zero endpoint-base-sixty "
        "endpoint-short-address url-short-address mode-bad",
    "what ${NAME} stands for":
        "environment-in-a-name environment-in-other-messages environment-open "
        "environment-shell-name environment-wrong-value variable-not-set",
    "ids are made of two texts":
        "id-dot-dot-part id-dot-part id-empty id-newline id-too-long "
        "ids-that-consul-cannot-address name-that-is-no-id",
    "the bytes of the file":
        "byte-order-mark nul-escape utf16",
}
BEYOND = {case for cases in REASONS.values() for case in cases.split()}
# What a schema refuses and the loader takes: case -> why an editor may complain there.
STRICTER = {}


class Core(yaml.SafeLoader):  # pylint: disable=too-many-ancestors
    """Scalars as YAML 1.2's core schema types them, which is what editors' language servers do."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
        ("bool", r"^(true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("null", r"^(~|null|Null|NULL|)$", ["~", "n", "N", ""]),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", "-+0123456789."),
        ("merge", r"^<<$", "<")):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), first)
Core.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


def read(path):
    """What an editor makes of a file; None where it is no YAML, which it says by itself."""
    try:
        return json.loads(json.dumps(yaml.load(path.read_bytes(), Core)))  # noqa: S506
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError, TypeError):
        return None


@pytest.fixture(scope="module", name="validator")
def _validator():
    schema = json.loads(run_probity("schema").stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize("command", DOCUMENTS)
def test_committed_documents_are_what_the_rows_say(command):
    done = run_probity(command)
    assert done.returncode == 0 and done.stderr == ""
    assert DOCUMENTS[command].read_text(encoding="utf-8") == done.stdout, \
        f"{DOCUMENTS[command]} is old; `cmake --build --preset release --target documents` " \
        "writes it anew"


def complaint(validator, tree):
    error = jsonschema.exceptions.best_match(validator.iter_errors(tree))
    return None if error is None else f"{list(error.absolute_path)}: {error.message[:200]}"


def files_of(case):
    folder = case / "input"
    return sorted(folder.glob("*.yaml")) if folder.is_dir() else [case / "input.yaml"]


VALID = [case.name for case in sorted(CASES.iterdir()) if (case / "dump").exists()]
# An editor of its own would choke on the bomb of aliases: that is why the loader refuses it.
INVALID = [case.name for case in sorted(CASES.iterdir())
           if not (case / "dump").exists() and case.name != "alias-bomb"]


@pytest.mark.parametrize("name", VALID)
def test_the_schema_takes_what_the_loader_takes(validator, name):
    for path in files_of(CASES / name):
        tree = read(path)
        assert tree is not None or name in STRICTER, f"{path} is no YAML to an editor"
        found = complaint(validator, tree)
        assert (found is not None) == (name in STRICTER), found


@pytest.mark.parametrize("name", INVALID)
def test_the_schema_refuses_what_the_loader_refuses(validator, name):
    trees = [read(path) for path in files_of(CASES / name)]
    refused = any(tree is None or complaint(validator, tree) for tree in trees)
    if name in BEYOND:
        assert not refused, f"the schema can say it now: take {name} out of the table"
    else:
        assert refused, f"{name} passes the schema"


def all_examples():
    return sorted(EXAMPLES.rglob("*.yaml"))


@pytest.mark.parametrize("path", all_examples(), ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_examples_pass_schema_and_loader(validator, path):
    assert complaint(validator, read(path)) is None
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    schema = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert schema and (path.parent / schema.group(1)).resolve() == DOCUMENTS["schema"], first


def test_examples_of_the_reference_load(validator, lab):
    blocks = re.findall(r"^```yaml\n(.*?)^```$", run_probity("reference").stdout, re.M | re.S)
    assert len(blocks) >= 3
    for block in blocks:
        path = lab.subfolder("e") / "example.yaml"
        path.write_text(block)
        path.chmod(0o600)
        done = run_probity("validate", "--strict", "-c", path)
        assert done.returncode == 0, done.stderr + block
        assert complaint(validator, read(path)) is None


def keys_of(schema):
    """All keys that a configuration can have, by what the schema says."""
    found = set()
    if isinstance(schema, dict):
        found.update(schema.get("properties", {}))
        for value in schema.values():
            found |= keys_of(value)
    elif isinstance(schema, list):
        for value in schema:
            found |= keys_of(value)
    return found


def test_the_reference_names_every_key(validator):
    text = run_probity("reference").stdout
    keys = keys_of(validator.schema) - {"file", "prefix"}
    types = set(re.findall(r"^## (\w+)$", text, re.M))
    assert len(keys) > 80 and {"http", "tcp", "script"} <= types
    assert not [key for key in keys - types if f"- `{key}` (" not in text]


def test_a_full_disk_is_no_document():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([run_probity.__globals__["PROBITY"], "schema"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "No space left" in done.stderr
