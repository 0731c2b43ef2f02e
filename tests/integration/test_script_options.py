# SPDX-License-Identifier: MIT
"""Options of script probes by `probity probe`: exit codes, input, nice value, limit on CPU time."""
import os
import signal
import subprocess

import pytest

from lab import PROBITY, run_probity, strict_json

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
PIPE = 65536  # bytes that a pipe holds
MOST_INPUT = 1024 * 1024
SPIN = "while :; do :; done"


class Results:
    """All checks of one file, run once, at the same time; what they came to by name."""

    def __init__(self, lab, checks):
        probity = lab.probity({
            "consul": "off", "defaults": {"interval": "1m", "timeout": "30s"},
            "checks": [{"name": name, "script": script,
                        **({"timeout": "1s"} if name == "late" else {})}
                       for name, script in checks.items()]}, start=False)
        done = run_probity("probe", "-c", probity.config, "--json", timeout=60)
        self.text = done.stdout + done.stderr
        self.rows = {row["name"]: row for row in strict_json(done.stdout.encode())}

    def __getitem__(self, name):
        return self.rows[name]["status"], self.rows[name]["output"]


def exits(code, **sets):
    return {"shell": f"echo text; exit {code}", **sets}


def make_checks(lab):
    folder = lab.subfolder("input")
    (folder / "exact").write_bytes(b"\0one\ntwo\n\n")
    (folder / "full").write_bytes(b"x" * MOST_INPUT)
    (folder / "over").write_bytes(b"x" * (MOST_INPUT + 1))
    os.mkfifo(folder / "fifo")
    count = "wc -c | tr -d ' '"
    sets = {"passing_exit": [0, "10-12"], "warning_exit": 2}
    checks = {f"exit-{code}": exits(code, **sets) for code in (0, 1, 2, 10, 12, 13, 255)}
    checks |= {
        "passes-1": exits(1, passing_exit=[1]), "fails-0": exits(0, passing_exit=[1]),
        "no-warning": exits(1, warning_exit=[]),
        "hup": {"shell": "kill -HUP $$", "passing_exit": ["0-255"]},
        "xfsz": {"shell": "kill -XFSZ $$", "warning_exit": ["1-255"]},
        "missing": {"command": ["/nowhere/script"], "passing_exit": ["0-255"]},
        "late": {"shell": "trap 'exit 5' TERM; sleep 30 & wait", "passing_exit": ["0-255"]},
        "text": {"shell": "cat", "stdin": "one S3CRET two"},
        "file": {"shell": "od -An -c | tr -d ' '", "stdin": {"file": str(folder / "exact")}},
        "prefix": {"shell": count, "stdin": {"file": str(folder / "exact"), "prefix": "12345"}},
        "large": {"shell": count, "stdin": "y" * (2 * PIPE)},
        "full": {"shell": count, "stdin": {"file": str(folder / "full")}},
        "over": {"shell": count, "stdin": {"file": str(folder / "over")}},
        "fifo": {"shell": count, "stdin": {"file": str(folder / "fifo")}},
        "no-file": {"shell": count, "stdin": {"file": "/nowhere/input"}},
        "unread": {"shell": "echo unread", "stdin": "y" * (2 * PIPE)},
        "closed": {"shell": "exec <&-; sleep 0.3; echo closed", "stdin": "y" * (2 * PIPE)},
        "some": {"shell": "head -c 3", "stdin": "y" * (2 * PIPE)},
        "no-input": {"shell": count},
        "again": {"shell": "cat /dev/stdin", "stdin": "opened again"},
        "nice": {"shell": "nice", "nice": 7},
        "much": {"shell": f"head -c 9000 /dev/zero > {folder}/much; wc -c < {folder}/much",
                 "limits": {"file_size": "4KiB"}},
        "spin": {"shell": SPIN, "limits": {"cpu": "1s"}},
        "deaf-spin": {"shell": f"trap '' XCPU; {SPIN}", "limits": {"cpu": "1s"}},
        "lazy": {"shell": "ulimit -t; ulimit -Ht", "limits": {"cpu": "1m"}},
    }
    if os.geteuid() == 0:
        checks |= {
            "nobody": {"shell": "cat /dev/stdin", "user": "nobody", "stdin": "for nobody"},
            "nicer": {"shell": "nice", "user": "nobody", "nice": -5},
        }
    return checks


@pytest.fixture(scope="module", name="results")
def run_all(module_lab):
    return Results(module_lab, make_checks(module_lab))


@pytest.mark.parametrize("code, status", [
    (0, "passing"), (10, "passing"), (12, "passing"), (2, "warning"), (1, "critical"),
    (13, "critical"), (255, "critical")])
def test_exit_codes_by_their_sets(results, code, status):
    assert results[f"exit-{code}"] == (status, "text")


def test_a_set_that_is_written_wins_over_a_default(results):
    assert results["passes-1"] == ("passing", "text")
    assert results["fails-0"] == ("critical", "text")
    assert results["much"][1].endswith("4096")
    assert results["no-warning"] == ("critical", "text")


def test_sets_of_all_codes_hold_no_signal_no_failed_start_and_no_timeout(results):
    assert results["hup"] == ("critical", "killed by signal 1 (HUP)")
    assert results["xfsz"] == ("critical", f"killed by signal {int(signal.SIGXFSZ)} (XFSZ)")
    assert results["missing"] == (
        "critical", "cannot start: /nowhere/script: No such file or directory")
    assert results["late"] == ("critical", "timed out after 1s")


def test_input_comes_as_it_is(results):
    assert results["text"] == ("passing", "one S3CRET two")
    assert results["file"] == ("passing", "\\0one\\ntwo\\n\\n")
    assert results["prefix"] == ("passing", str(5 + 10))
    assert results["large"] == ("passing", str(2 * PIPE))
    assert results["full"] == ("passing", str(MOST_INPUT))
    assert results["again"] == ("passing", "opened again")
    assert results["no-input"] == ("passing", "0")


def test_input_that_is_not_read_is_no_fault(results):
    assert results["unread"] == ("passing", "unread")
    assert results["closed"] == ("passing", "closed")
    assert results["some"] == ("passing", "yyy")


@pytest.mark.parametrize("name, problem", [
    ("over", "longer than 1 MiB"), ("fifo", "not a regular file"),
    ("no-file", "No such file or directory")])
def test_input_that_cannot_be_given_is_critical(results, name, problem):
    status, output = results[name]
    assert status == "critical"
    assert output.startswith("cannot read secret: stdin: /") and output.endswith(f": {problem}")


def test_nice_value(results):
    assert results["nice"] == ("passing", "7")


@as_root
def test_another_user_reads_its_input_and_keeps_its_nice_value(results):
    assert results["nobody"] == ("passing", "for nobody")
    assert results["nicer"] == ("passing", "-5")


@as_root
def test_a_nice_value_that_cannot_be_had_is_a_failed_start(lab):
    probity = lab.probity({"consul": "off", "checks": [
        {"name": "low", "script": {"command": ["/bin/true"], "nice": -20}},
        {"name": "high", "script": {"command": ["nice"], "nice": 19}}]}, start=False)
    done = subprocess.run(
        ["setpriv", "--bounding-set", "-sys_nice", PROBITY, "probe", "-c", probity.config,
         "--json"], capture_output=True, text=True, timeout=30, check=False)
    low, high = strict_json(done.stdout.encode())
    assert (low["status"], low["output"]) == ("critical", "cannot start: nice: Permission denied")
    assert (high["status"], high["output"]) == ("passing", "19")


def test_the_limit_on_cpu_time_is_named(results):
    assert results["spin"] == ("critical", "killed by signal 24 (XCPU), its CPU limit of 1s")
    assert results["deaf-spin"] == (
        "critical", "killed by signal 9 (KILL), perhaps its CPU limit of 1s")
    assert results["lazy"] == ("passing", "60\n61")


def test_nothing_of_the_input_is_shown(results):
    assert "S3CRET" not in results.text.replace('"output": "one S3CRET two"', "")
