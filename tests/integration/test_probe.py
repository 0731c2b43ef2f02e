# SPDX-License-Identifier: MIT
"""probity probe: what runs once is printed whole, and the exit code is its worst."""
import signal
import subprocess
import time

import pytest

from lab import PROBITY, free_port, run_probity, strict_json, wait_for

KEYS = {"name", "id", "target", "status", "reason", "seconds", "output", "values", "phases"}


@pytest.fixture(scope="module", name="path")
def make_config(module_lab):
    """Checks of every outcome; the daemon is never started."""
    def shell(text):
        return ["/bin/sh", "-c", text]
    return module_lab.probity({
        "consul": "off", "defaults": {"interval": "10s", "timeout": "5s"}, "checks": [
            {"name": "fine", "node": True, "script": shell("echo fine; echo more")},
            {"name": "odd", "node": True, "script": shell("echo odd; exit 1")},
            {"name": "bad", "node": True, "script": shell("echo bad; exit 2")},
            {"name": "slow", "node": True, "script": shell("echo begun; sleep 9"),
             "timeout": "500ms"},
            {"name": "lazy", "node": True, "script": shell("sleep 0.3; echo lazy"),
             "max_latency": {"warning": "100ms"}},
            {"name": "shut", "node": True, "tcp": f"127.0.0.1:{free_port()}"},
            {"name": "long", "node": True, "script": ["/bin/sleep", "30"], "timeout": "10s"},
        ]}, start=False).config


def probe(path, *arguments):
    return run_probity("probe", "-c", path, *arguments)


@pytest.mark.parametrize("names, code", [
    (["fine"], 0), (["odd", "fine"], 1), (["lazy"], 1), (["odd", "bad", "fine"], 2), (["slow"], 2)])
def test_code_is_the_worst(path, names, code):
    assert probe(path, *names).returncode == code


def test_table_has_a_line_a_check(path):
    done = probe(path, "fine", "odd", "bad", "slow", "lazy", "shut")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["STATUS", "NAME", "TIME", "OUTPUT"] and len(lines) == 7
    rows = {line.split()[1]: line.split(None, 3) for line in lines[1:]}
    assert [line.split()[1] for line in lines[1:]] == ["fine", "odd", "bad", "slow", "lazy", "shut"]
    assert (rows["fine"][0], rows["fine"][3]) == ("passing", "fine")
    assert (rows["odd"][0], rows["odd"][3]) == ("warning", "odd")
    assert (rows["bad"][0], rows["bad"][3]) == ("critical", "bad")
    assert rows["slow"][0] == "critical" and rows["slow"][3].startswith("timed out after 500ms")
    assert rows["lazy"][0] == "warning" and rows["lazy"][3].startswith("slower than 100ms")
    assert rows["shut"][0] == "critical" and rows["shut"][3].startswith("cannot connect")
    assert "\033" not in done.stdout and done.stderr == ""


def test_json_has_everything(path):
    done = probe(path, "--json", "fine", "slow", "shut")
    rows = strict_json(done.stdout.encode())
    assert done.returncode == 2 and [row["name"] for row in rows] == ["fine", "slow", "shut"]
    assert all(row.keys() == KEYS for row in rows)
    fine, slow, shut = rows
    assert (fine["id"], fine["status"], fine["output"]) == ("probity:fine", "passing", "fine\nmore")
    assert 0 < fine["phases"]["run"] <= fine["seconds"] < 5
    assert slow["reason"] == "timed out" and "begun" in slow["output"] and slow["seconds"] >= 0.5
    assert shut["reason"] == "cannot connect" and "connect" in shut["phases"]


def test_verbose_shows_phases_and_addresses(path):
    lines = probe(path, "-v", "fine", "shut").stdout.splitlines()
    assert lines[1].startswith("passing")
    assert lines[2].split()[2] == "start" and lines[3].split()[2] == "run"
    bars = [line[line.index("|"):] for line in lines[2:4]]
    assert all(len(bar) == 34 and "#" in bar for bar in bars)
    shut = next(i for i, line in enumerate(lines) if line.startswith("critical"))
    assert lines[shut + 2].split()[2] == "connect"
    assert lines[shut + 3].split()[2] == "address"
    assert lines[shut + 3].endswith(" Connection refused")


def test_json_has_a_trace_where_asked(path):
    row, = strict_json(probe(path, "-v", "--json", "shut").stdout.encode())
    assert row.keys() == KEYS | {"trace"}
    assert [line["kind"] for line in row["trace"]] == ["phase", "phase", "address"]
    assert 0 <= row["trace"][2]["at"] <= row["seconds"]


def test_unknown_names_run_nothing(path):
    done = probe(path, "fine", "fime", "probity:bad")
    assert done.returncode == 2 and done.stdout == ""
    assert "no check 'fime'; did you mean 'fine'?" in done.stderr
    assert "probity:bad" not in done.stderr, "an id is a name as well"
    none = run_probity("probe", "fine")
    assert none.returncode == 2 and "-c PATH" in none.stderr


def test_bad_configuration_runs_nothing(path, tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(path.read_text().replace('"script"', '"skript"', 1))
    done = probe(bad, "--json")
    assert done.returncode == 2 and done.stdout == "" and "skript" in done.stderr


def test_interrupted_is_said(path):
    began = time.monotonic()
    with subprocess.Popen([PROBITY, "probe", "-c", path, "fine", "long"], stdout=subprocess.PIPE,
                          text=True) as process:
        task = f"/proc/{process.pid}/task/{process.pid}/children"

        def sleeps():
            with open(task, encoding="ascii") as file:
                children = file.read().split()
            return len(children) == 1 and began + 0.5 < time.monotonic()
        wait_for(sleeps, 5, what="only the long one")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=8)
    assert process.returncode == 3
    rows = {line.split()[1]: line for line in out.splitlines()[1:]}
    assert rows["fine"].startswith("passing") and rows["long"].startswith("-")
    assert rows["long"].endswith("did not end")
    assert time.monotonic() - began < 8
