# SPDX-License-Identifier: MIT
"""Performance data of real plugins: values in status and probe, and limits on them."""
import os
import re
from pathlib import Path

import pytest

from lab import run_probity, strict_json, wait_for
from script_bench import configuration

PLUGINS = Path("/usr/lib/nagios/plugins")
LOAD = [str(PLUGINS / "check_load"), "-w", "9000,9000,9000", "-c", "9999,9999,9999"]
DISK = [str(PLUGINS / "check_disk"), "-w", "1", "-c", "0", "-p", "/"]
PROCS = [str(PLUGINS / "check_procs"), "-c", "1:"]
USERS = [str(PLUGINS / "check_users"), "-w", "9000", "-c", "9999"]
SEVERAL = ("OK | 'it''s'=1.5s;2;3 b=U\nlong text\nmore | c=-1%\nd=4KB\n")


def printing(text, code=0, **more):
    return {"shell": f"cat; exit {code}", "stdin": text, **more}


CHECKS = {
    "load": {"command": LOAD, "values": {"load1": {"warning": 9000, "critical": "0:9000"}}},
    "load-broken": {"command": LOAD, "values": {"load5": {"critical": "99999:"}}},
    "load-missing": {"command": LOAD, "values": {"load2": {"critical": 4}}},
    "disk": {"command": DISK, "values": {"/": {"critical": "1:"}}},
    "disk-broken": {"command": DISK, "values": {"/": {"warning": "~:-1"}}},
    "procs": {"command": PROCS, "values": {"procs": {"critical": "1:"}}},
    "procs-inside": {"command": PROCS, "values": {"procs": {"critical": "@1:100000"}}},
    "users": USERS,
    "several": printing(SEVERAL),
    "split": {"shell": "printf 'OK | a=1'; sleep 0.2; printf '2 b=3'; sleep 0.2; echo 4",
              "values": {"a": {"critical": 12}, "b": {"critical": "34:34"}}},
    "warning": printing("WARN | a=9", 1, values={"a": {"warning": 1}}),
    "worse": printing("WARN | a=9", 1, values={"a": {"warning": 1, "critical": 2}}),
    "critical": printing("CRIT | a=9", 2, values={"a": {"critical": 2}}),
    "none": ["/bin/echo", "no data"],
    "killed": {"shell": "echo 'OK | a=9'; kill -9 $$", "values": {"a": {"critical": 99}}},
    "late": {"shell": "echo 'OK | a=9'; sleep 9", "values": {"a": {"critical": 99}}},
    "flood": {"shell": "echo 'OK | a=9'; head -c 30000000 /dev/zero | tr '\\0' '|'",
              "values": {"a": {"critical": 99}}},
}


@pytest.fixture(scope="module", name="results")
def run_all(module_lab):
    probity = module_lab.probity({
        "consul": "off", "defaults": {"interval": "1m", "timeout": "30s"},
        "checks": [{"name": name, "script": script,
                    **({"timeout": "500ms"} if name == "late" else {})}
                   for name, script in CHECKS.items()]}, start=False)
    done = run_probity("probe", "-c", probity.config, "--json", timeout=60)
    return {row["name"]: row for row in strict_json(done.stdout.encode())}


def values(row):
    return {each["name"]: each["value"] for each in row["values"]}


def test_real_plugins_tell_their_values(results):
    assert set(values(results["load"])) == {"load1", "load5", "load15"}
    assert all(value >= 0 for value in values(results["load"]).values())
    assert values(results["disk"])["/"] > 0
    assert [each["unit"] for each in results["disk"]["values"]] == ["B"]
    assert values(results["procs"])["procs"] >= 1
    assert values(results["users"])["users"] >= 0
    assert results["none"]["values"] == []


@pytest.mark.parametrize("name", ["load", "disk", "procs", "users"])
def test_limits_that_are_kept_change_nothing(results, name):
    assert results[name]["status"] == "passing"
    # Its own text alone, performance data and all.
    assert re.match(r"(LOAD|DISK|PROCS|USERS) OK", results[name]["output"])
    assert "|" in results[name]["output"]


@pytest.mark.parametrize("name, status, line", [
    ("load-broken", "critical", r"load5 = [\d.]+ is outside critical 99999:"),
    ("load-missing", "critical", "no value 'load2' in the output; "
                                 "it has: load1, load5, load15"),
    ("disk-broken", "warning", r"/ = \d+B is outside warning ~:-1"),
    ("procs-inside", "critical", r"procs = \d+ is inside critical 1:100000")])
def test_limits_that_are_broken_are_named(results, name, status, line):
    row = results[name]
    assert row["status"] == status
    assert row["reason"] == "assertion failed"
    assert re.fullmatch(f"assertion failed: {line}", row["output"].split("\n")[0]), row["output"]
    assert re.match(r"(LOAD|DISK|PROCS) OK", row["output"].split("\n")[1])


def test_labels_units_unknown_values_and_several_lines(results):
    assert results["several"]["values"] == [
        {"name": "it's", "value": 1.5, "unit": "s"}, {"name": "b", "value": None, "unit": ""},
        {"name": "c", "value": -1.0, "unit": "%"}, {"name": "d", "value": 4.0, "unit": "KB"}]
    assert results["several"]["output"] == SEVERAL.rstrip("\n")


def test_values_come_in_any_pieces(results):
    assert values(results["split"]) == {"a": 12, "b": 34}
    assert results["split"]["status"] == "passing"


def test_limits_only_make_worse_what_the_exit_code_says(results):
    assert (results["warning"]["status"], results["warning"]["output"]) == ("warning", "WARN | a=9")
    assert results["worse"]["status"] == "critical"
    assert results["worse"]["output"] == (
        "assertion failed: a = 9 is outside critical 2\nWARN | a=9")
    assert (results["critical"]["status"], results["critical"]["output"]) == (
        "critical", "CRIT | a=9")


def test_a_kept_limit_saves_no_script_that_ended_badly(results):
    assert results["killed"]["status"] == "critical"
    assert results["killed"]["output"] == "killed by signal 9 (KILL)\nOK | a=9"
    assert results["late"]["status"] == "critical"
    assert results["late"]["output"].startswith("timed out after 500ms")
    assert values(results["late"]) == {"a": 9}
    assert values(results["flood"]) == {"a": 9} and results["flood"]["status"] == "passing"


def test_status_has_the_values_of_the_last_run(lab, agent):
    script = lab.script(f"read -r n < {lab.folder}/n; echo \"OK | n=$n\"; [ $n != 3 ]")
    number = lab.folder / "n"
    number.write_text("1\n")
    daemon = lab.probity(configuration(agent, {
        "n": ({"command": [script], "values": {"n": {"critical": 1}}}, {"interval": "200ms"})}))
    agent.wait_update("web-1:n")
    check = daemon.check("n")
    assert check["values"] == [{"name": "n", "value": 1.0, "unit": ""}]
    assert check["status"] == "passing"
    new = number.with_suffix(".new")
    new.write_text("2\n")
    os.rename(new, number)
    check = daemon.wait_check("n", status="critical")
    assert check["values"] == [{"name": "n", "value": 2.0, "unit": ""}]
    assert check["output"] == "assertion failed: n = 2 is outside critical 1\nOK | n=2"
    wait_for(lambda: any(update.status == "critical" for update in agent.updates("web-1:n")))
