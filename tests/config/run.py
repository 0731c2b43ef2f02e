#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each folder of cases/ is a test: input.yaml with `error` or `dump`.

usage: run.py PROBITY

`error` holds what must be printed, LINE:COLUMN: error: TEXT, all of it. `dump` holds lines that
`validate --dump` must print in this order (without indentation and "- "), others between them. `environment` (NAME=VALUE lines)
adds to the environment.
"""
import os
import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).parent / "cases"


def run_case(probity, case):
    """What differs, or None."""
    env = dict(os.environ)
    settings = case / "environment"
    if settings.exists():
        env.update(line.split("=", 1) for line in settings.read_text().splitlines())
    dump = case / "dump"
    arguments = [probity, "validate", "-c", "input.yaml"] + (["--dump"] if dump.exists() else [])
    done = subprocess.run(arguments, cwd=case, env=env, capture_output=True, text=True,
                          timeout=20, check=False)
    found = [line.removeprefix("input.yaml:") for line in done.stderr.splitlines()]
    wanted_code, wanted = 0, []
    if not dump.exists():
        wanted_code = 2
        wanted = (case / "error").read_text(encoding="utf-8").splitlines()
    if done.returncode != wanted_code or sorted(found) != sorted(wanted):
        return f"exit {done.returncode}, wanted {wanted_code}\n" + \
            "".join(f"  got    {line}\n" for line in found) + \
            "".join(f"  wanted {line}\n" for line in wanted)
    if dump.exists():
        printed = iter(line.strip().removeprefix("- ") for line in done.stdout.splitlines())
        for line in dump.read_text(encoding="utf-8").splitlines():
            if line.strip() not in printed:  # advances the iterator
                return f"the dump lacks '{line}' at its place:\n{done.stdout}"
    return None


def main():
    probity = os.path.abspath(sys.argv[1])
    cases = sorted(path for path in CASES.iterdir() if path.is_dir())
    failed = 0
    for case in cases:
        problem = run_case(probity, case)
        if problem is not None:
            failed += 1
            print(f"{case.name}: {problem}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
