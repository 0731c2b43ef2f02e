# SPDX-License-Identifier: MIT
"""Runs many HTTP checks at once, each once, with `probity probe`."""
import collections
import json
import os
import re
import subprocess
import time

from lab import PROBITY, strict_json

Result = collections.namedtuple("Result", "status output seconds")
Session = collections.namedtuple("Session", "code results text peak_kib seconds")


def write_config(folder, checks, **top):
    """checks: name -> what stands under `http:`, with keys of the check in `_`."""
    rows = []
    for number, (name, http) in enumerate(checks.items()):
        http = dict(http) if isinstance(http, dict) else http
        more = http.pop("_", {}) if isinstance(http, dict) else {}
        rows.append({"name": name, "id": f"c{number}", "http": http, "timeout": "3s", **more})
    path = folder / "http.yaml"
    path.write_text(json.dumps({"consul": "off", "service": {"id": "web-1"}, "checks": rows,
                                **top}, indent=1), encoding="utf-8")
    path.chmod(0o600)
    return path


def probe_all(lab, checks, env=None, **top):
    """A Session of one call of `probity probe --json` over all the checks."""
    config = write_config(lab.subfolder("h"), checks, **top)
    started = time.monotonic()
    with subprocess.Popen([PROBITY, "probe", "-c", str(config), "--json"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, **(env or {})}) as process:
        out, err = process.stdout.read(), process.stderr.read()
        _, state, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(state)
    seconds = time.monotonic() - started
    assert process.returncode in (0, 1, 2) and out, (process.returncode, err.decode())
    results = {row["name"]: Result(row["status"], row["output"], row["seconds"])
               for row in strict_json(out)}
    assert set(results) == set(checks)
    return Session(process.returncode, results, (out + err).decode(), usage.ru_maxrss, seconds)


def expect(result, status, pattern):
    """The whole first line of the output is matched."""
    line = result.output.split("\n")[0]
    assert result.status == status and re.fullmatch(pattern, line), \
        f"{result.status} in {result.seconds:.2f} s: {result.output[:500]}"
    assert len(result.output.encode()) <= 4096
