#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each folder of cases/ is a test of `probity validate`: input.yaml, or a folder input/, with
`error` or `dump`.

usage: run.py [--update] PROBITY [NAME...]

`error` holds what must be printed, LINE:COLUMN: error: TEXT, all of it and nothing else. `dump`
holds lines that --dump must print in this order (without indentation and "- "), others between
them, so that a new key does not touch old cases; what `error` then holds are warnings.
`environment` (NAME=VALUE lines) is the environment. --update writes `error` as it is now.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = Path(__file__).parent / "cases"

# s: loading is to take well under one; a sanitizer on a busy machine takes longer.
LIMIT = 20


def validate(probity, path, *options, env=None):
    return subprocess.run([probity, "validate", "-c", path.name, *options], cwd=path.parent,
                          env=env or {}, capture_output=True, text=True, timeout=LIMIT,
                          check=False)


def read_lines(path):
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def lacks(dump, wanted):
    """The first of these lines that a dump does not have at its place, or None."""
    printed = iter(line.strip().removeprefix("- ") for line in dump.splitlines())
    for line in wanted:
        if line.strip() not in printed:  # advances the iterator
            return line
    return None


def dumps_as_itself(probity, dump):
    """A dump is a configuration again, where nothing in it is hidden."""
    if "***" in dump or "?…" in dump:
        return True
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.yaml"
        path.write_text(dump, encoding="utf-8")
        done = validate(probity, path, "--dump")
    return done.returncode == 0 and done.stdout == dump


def check_case(probity, case, update):
    """What differs, or None. The case is copied to where only we can write, as root needs it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "case"
        shutil.copytree(case, copy)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return check_copy(probity, case, copy, update)


def check_copy(probity, case, copy, update):
    env = dict(line.split("=", 1) for line in read_lines(case / "environment"))
    folder = (case / "input").is_dir()
    done = validate(probity, copy / ("input" if folder else "input.yaml"), "--dump", env=env)
    prefix = "input/" if folder else "input.yaml:"
    found = [line.removeprefix(prefix).strip() for line in done.stderr.splitlines()]
    if update and found:
        (case / "error").write_text("".join(line + "\n" for line in found), encoding="utf-8")
    wanted = read_lines(case / "error")
    code = 0 if (case / "dump").exists() else 2
    if done.returncode != code or found != wanted or (code == 2) != (done.stdout == ""):
        return f"exit {done.returncode}, wanted {code}\n{done.stdout}" + \
            "".join(f"  got    {line}\n" for line in found) + \
            "".join(f"  wanted {line}\n" for line in wanted)
    if "S3CRET" in done.stdout + done.stderr:
        return "a secret was shown"
    if code == 0:
        line = lacks(done.stdout, read_lines(case / "dump"))
        if line is not None:
            return f"the dump lacks '{line}' at its place:\n{done.stdout}"
        if not folder and not dumps_as_itself(probity, done.stdout):
            return f"the dump does not load as itself:\n{done.stdout}"
    return None


def checks(count, tail=""):
    lines = [f"  - {{name: check-{i}, http: http://127.0.0.1:{1 + i % 65535}/, interval: 5s}}\n"
             for i in range(count)]
    return "consul: off\nchecks:\n" + "".join(lines) + tail


# Name, text (None: no file), options, exit code and a line of what is printed.
MADE = [
    ("none.yaml", None, [], 2, "none.yaml: error: cannot read: No such file or directory"),
    ("large.yaml", checks(10000), [], 0, "large.yaml: 10000 checks, no errors"),
    ("twin.yaml", checks(9999, "  - {name: check-7, http: http://127.0.0.1/}\n"), [], 2,
     "twin.yaml:10002:5: error: check id 'check-7' is taken by the check in line 10; give one of "
     "them another name or id"),
    ("long.yaml", "#" * (1024 * 1024 + 1), [], 2, "long.yaml: error: is larger than 1024 KiB"),
    ("strict.yaml", "consul: off\nchecks: [{name: a, ttl: 3s, script: [/bin/true]}]\n",
     ["--strict"], 2, "strict.yaml:2:25: warning: a ttl under 21s can expire while the agent waits "
     "for a new leader (7 s)"),
]


def check_made(probity, folder, row):
    name, text, options, code, line = row
    path = Path(folder) / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    start = time.monotonic()
    done = validate(probity, path, *options)
    if name == "large.yaml":
        print(f"10,000 checks, {len(text) // 1024} KiB: {time.monotonic() - start:.2f} s")
    if done.returncode == code and line in (done.stdout + done.stderr).splitlines():
        return None
    return f"exit {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}  wanted {line}"


def check_folder(probity, folder):
    done = validate(probity, Path(folder))
    if done.returncode == 2 and done.stderr.endswith(": error: no *.yaml file is in it\n"):
        return None
    return done.stderr


def main(arguments):
    update = arguments[:1] == ["--update"]
    probity, *names = arguments[1:] if update else arguments
    probity = os.path.abspath(probity)
    cases = [path for path in sorted(CASES.iterdir()) if not names or path.name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            tempfile.TemporaryDirectory() as folder:
        problems = dict(zip([case.name for case in cases],
                            pool.map(lambda case: check_case(probity, case, update), cases)))
        if not names:
            problems["folder"] = check_folder(probity, folder)
            for row in MADE:
                problems[row[0]] = check_made(probity, folder, row)
    failed = {name: text for name, text in problems.items() if text is not None}
    for name, text in failed.items():
        print(f"{name}: {text}")
    print(f"{len(problems) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
