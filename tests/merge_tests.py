#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Joins the tests of several build folders into one that ctest runs in one go.

usage: merge_tests.py OUT [--exclude REGEX] NAME=BUILD... -- writes OUT/CTestTestfile.cmake, each
test as NAME.TEST with label NAME. One run packs two cores better than one run after the other.
"""
import json
import re
import subprocess
import sys
from pathlib import Path


def quote(text):
    """A CMake bracket argument: nothing in it is special."""
    return f"[==[{text}]==]"


def value_text(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, list):
        return ";".join(map(str, value))
    return str(value)


def main():
    arguments = sys.argv[1:]
    exclude = None
    if "--exclude" in arguments:
        place = arguments.index("--exclude")
        exclude = re.compile(arguments[place + 1])
        del arguments[place:place + 2]
    out = Path(arguments[0])
    lines = []
    for pair in arguments[1:]:
        name, _, build = pair.partition("=")
        listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                                 stdout=subprocess.PIPE, check=True).stdout
        for test in json.loads(listing)["tests"]:
            full = f"{name}.{test['name']}"
            if exclude is not None and exclude.search(full):
                continue
            properties = {each["name"]: each["value"] for each in test.get("properties", [])}
            properties["LABELS"] = [name, *properties.get("LABELS", [])]
            if "command" not in test:
                print(f"{full}: not built", file=sys.stderr)
                return 1
            lines.append(f"add_test({quote(full)} {' '.join(map(quote, test['command']))})")
            given = " ".join(f"{key} {quote(value_text(value))}"
                             for key, value in properties.items())
            lines.append(f"set_tests_properties({quote(full)} PROPERTIES {given})")
    out.mkdir(parents=True, exist_ok=True)
    (out / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
    return 0


sys.exit(main())
