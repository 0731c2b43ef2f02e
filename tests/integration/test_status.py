# SPDX-License-Identifier: MIT
"""status and its socket: what is said is true, and nobody who asks can hold up a probe."""
import http.client
import os
import pty
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from lab import PROBITY, TOLERANCE, cpu_seconds, free_port, run_probity, strict_json, wait_for

CONNECTIONS = 16  # as many as the daemon serves at once
IDLE = 5  # s until it hangs up on one that says nothing


def start(lab, **more):
    agent = lab.fake_agent()
    agent.add_service("web-1", "web", 8080)
    return agent, lab.probity({
        "consul": {"address": agent.url}, "service": {"id": "web-1"},
        "defaults": {"interval": "1s", "ttl": "3s"},
        "checks": [{"name": "good", "script": ["/bin/echo", "all", "well"]},
                   {"name": "bad", "script": ["/bin/sh", "-c", "echo broken; exit 2"]}], **more})


def test_what_is_said_is_true(lab):
    agent, daemon = start(lab)
    wait_for(lambda: daemon.check("web-1:good")["runs"] >= 2, 6, what="two runs")
    wait_for(lambda: daemon.check("web-1:bad")["agent"]["acknowledged"], 4, what="an answer")
    good, bad = daemon.check("web-1:good"), daemon.check("web-1:bad")
    assert (good["status"], good["result"], good["output"]) == ("passing", "passing", "all well")
    assert (bad["status"], bad["result"], bad["output"]) == ("critical", "critical", "broken")
    assert good["successes"] == 1 and good["failures"] == 0 and bad["failures"] == 1
    assert good["type"] == "script" and good["service_id"] == "web-1"
    assert 0 <= good["age"] < 2 and 0 <= good["lateness"] < 1
    assert bad["agent"]["acknowledged_status"] == "critical"
    assert 0 <= bad["agent"]["acknowledged_at"] < 2
    status = daemon.status()
    assert status["agent"]["reachable"] and status["agent"]["calls"] > 0
    assert 0 < status["uptime"] < time.monotonic() - daemon.started_at
    assert status["pid"] == daemon.process.pid


def test_table_and_exit_codes(lab, tmp_path):
    _, daemon = start(lab)
    wait_for(lambda: daemon.check("web-1:bad")["runs"] >= 1 and
             daemon.check("web-1:good")["runs"] >= 1, 6, what="a run of each")
    asked = run_probity("status", "--runtime-dir", daemon.runtime_dir)
    assert asked.returncode == 1, "a critical check is a finding"
    assert "\033" not in asked.stdout
    rows = {line.split()[1]: line for line in asked.stdout.splitlines() if "web-1:" in line}
    assert rows["web-1:good"].startswith("passing") and "all well" in rows["web-1:good"]
    assert rows["web-1:bad"].startswith("critical") and "broken" in rows["web-1:bad"]
    raw = run_probity("status", "--json", "--runtime-dir", daemon.runtime_dir)
    assert raw.returncode == 1 and raw.stdout.startswith("{")
    nobody = run_probity("status", "--runtime-dir", tmp_path)
    assert nobody.returncode == 2 and "no daemon answers" in nobody.stderr


def test_socket_is_ours_alone(lab):
    _, daemon = start(lab)
    path = daemon.runtime_dir / "control.sock"
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    second = run_probity("run", "-c", daemon.config, "--runtime-dir", daemon.runtime_dir)
    assert second.returncode == 2
    assert "another probity" in second.stderr and "--runtime-dir" in second.stderr
    assert daemon.status()["pid"] == daemon.process.pid, "the first one is left alone"
    daemon.stop()
    assert not path.exists()


def test_stale_socket_is_replaced(lab):
    _, daemon = start(lab)
    daemon.kill()
    assert (daemon.runtime_dir / "control.sock").exists()
    daemon.start()
    assert daemon.status()["pid"] == daemon.process.pid


def request(daemon, method, path):
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(5)
    connection.sock.connect(os.fspath(daemon.runtime_dir / "control.sock"))
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_other_requests_are_refused(lab):
    _, daemon = start(lab)
    assert request(daemon, "GET", "/")[0] == 404
    assert request(daemon, "POST", "/v1/status")[0] == 405
    assert request(daemon, "HEAD", "/v1/status") == (200, b"")


def connect(daemon, words=b""):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    client.connect(os.fspath(daemon.runtime_dir / "control.sock"))
    client.sendall(words)
    return client


def test_silent_clients_hold_a_place_for_a_while(lab):
    _, daemon = start(lab)
    silent = [connect(daemon, b"GET /v1/st" if number % 2 else b"")
              for number in range(CONNECTIONS)]
    began = time.monotonic()
    used = cpu_seconds(daemon.pid)
    status = daemon.status(timeout=2 * IDLE)  # waits until one of them is sent away
    assert time.monotonic() - began < 2 * IDLE
    assert cpu_seconds(daemon.pid) - used < 1, "nobody turns in a loop meanwhile"
    for check in status["checks"]:
        assert check["runs"] >= 4, "the probes went on"
        assert check["max_lateness"] < TOLERANCE
    for client in silent:
        client.close()


def test_greedy_and_slow_clients_delay_no_probe(lab):
    checks = [{"name": f"c{number}", "script": ["/bin/sh", "-c", "head -c 4000 /dev/zero | tr '\\0' x"],
               "interval": "60s"} for number in range(40)]
    recorder = lab.recorder()
    checks.append({"name": "watched", "script": recorder.command, "interval": "500ms"})
    daemon = lab.probity({"consul": "off", "checks": [{**check, "node": True} for check in checks]})
    wait_for(lambda: all(check["runs"] for check in daemon.status()["checks"]), 10,
             what="a run of each")
    slow = [connect(daemon, b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(8)]
    ends = time.monotonic() + 2

    def hammer():
        while time.monotonic() < ends:
            daemon.status(timeout=10)
    threads = [threading.Thread(target=hammer) for _ in range(4)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watched = daemon.check("watched")
    starts = [at for at in recorder.starts() if at > began]
    assert len(starts) >= 3, starts
    assert watched["lateness"] < TOLERANCE, watched
    assert max((b - a for a, b in zip(starts, starts[1:])), default=9) < 0.5 + TOLERANCE, starts
    for client in slow:
        client.close()


def test_reload_keeps_what_did_not_change(lab):
    agent, daemon = start(lab)
    wait_for(lambda: daemon.check("web-1:good")["runs"] >= 2, 6, what="two runs")
    runs = daemon.check("web-1:good")["runs"]
    config = daemon.config.read_text()
    daemon.write(config.replace("exit 2", "exit 1"))
    daemon.reload()
    wait_for(lambda: daemon.check("web-1:bad")["status"] == "warning", 4, what="the new script")
    assert daemon.check("web-1:good")["runs"] >= runs, "counters go on"
    daemon.write("checks: [")
    daemon.reload()
    wait_for(lambda: daemon.status()["reload_error"], 4, what="the complaint")
    daemon.wait_log("the configuration from before stays in force")
    assert daemon.check("web-1:bad")["status"] == "warning"


@pytest.fixture(scope="module", name="trio")
def make_trio(module_lab):
    """A daemon with a check that passes, one that is critical and one that is undecided."""
    agent = module_lab.fake_agent()
    agent.add_service("web-1", "web", 8080)
    daemon = module_lab.probity({
        "consul": {"address": agent.url}, "service": {"id": "web-1"},
        "checks": [
            {"name": "good", "script": ["/bin/echo", "all well"], "interval": "60s"},
            {"name": "bad", "interval": "60s",
             "script": ["/bin/sh", "-c", "printf 'broken\\nbeyond repair\\n'; exit 2"]},
            {"name": "open", "script": ["/bin/echo", "maybe"], "interval": "60s",
             "success_before_passing": 3, "retry_interval": "30s"}]})
    wait_for(lambda: all(check["runs"] for check in daemon.status()["checks"]) and
             daemon.check("good")["agent"]["acknowledged"] and
             daemon.check("bad")["agent"]["acknowledged"], 6, what="a run of each, acknowledged")
    return daemon


def test_ages_grow_between_runs(trio):
    # Where the clock stands in the minute is anybody's guess: not across a tick.
    wait_for(lambda: (trio.check("good")["next_run_in"] or 0) > 3, 8, what="time before a tick")
    first, first_at = trio.check("good"), time.monotonic()
    time.sleep(0.5)
    second, passed = trio.check("good"), time.monotonic() - first_at
    assert first["runs"] == second["runs"]
    for key in ("age", "changed"):
        assert 0.3 < second[key] - first[key] < passed + 0.3, key
    assert 0.3 < second["agent"]["acknowledged_at"] - first["agent"]["acknowledged_at"]
    assert 0.3 < first["next_run_in"] - second["next_run_in"] < passed + 0.3
    assert first["next_run_in"] <= 60
    assert first["agent"]["next_heartbeat_at"] < 20.5, "a third of the TTL"


def test_undecided_is_no_claim(trio):
    check = trio.check("open")
    assert check["decided"] is False and check["status"] is None
    assert (check["result"], check["successes"]) == ("passing", 1)
    assert check["agent"]["acknowledged"] is False and check["agent"]["acknowledged_at"] is None
    assert check["phase_seconds"]["run"] > 0 and check["duration"] > 0


def status(daemon, *arguments, **more):
    return run_probity("status", "--runtime-dir", daemon.runtime_dir, *arguments, **more)


def test_table_says_what_a_person_asks_first(trio):
    lines = status(trio).stdout.splitlines()
    assert lines[0].startswith("probity 0.") and str(trio.config) in lines[0]
    assert lines[0].endswith("reachable") and "NOT" not in lines[0]
    assert lines[1] == "3 checks: 1 critical, 1 undecided, 1 passing"
    assert lines[3].split() == ["STATUS", "CHECK", "SINCE", "AGE", "NEXT", "LATE", "AGENT", "OUTPUT"]
    at = lines[3].index("OUTPUT")
    assert [line[at:] for line in lines[4:]] == ["all well", "broken", "last run passing: maybe"]
    at = lines[3].index("AGENT")
    assert [line[at:].split("  ")[0].split()[-1] for line in lines[4:]] == ["ago", "ago", "yet"]
    assert lines[6].split()[:3] == ["undecided", "web-1:open", "-"]


def test_json_is_what_the_daemon_says(trio):
    done = status(trio, "--json")
    said, own = strict_json(done.stdout.encode()), trio.status()
    assert done.returncode == 1
    assert said.keys() == own.keys() and said["checks"][0].keys() == own["checks"][0].keys()
    assert said["checks"][1]["output"] == "broken\nbeyond repair"


def on_terminal(command, env=None):
    """What a command prints on a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave,
                          env={**os.environ, "TERM": "xterm", **(env or {})}) as process:
        os.close(slave)
        text = b""
        try:
            while data := os.read(master, 65536):
                text += data
        except OSError:  # EIO: all have closed it
            pass
        process.wait(5)
    os.close(master)
    return text.decode()


def test_colour_is_for_terminals(trio):
    command = [PROBITY, "status", "--runtime-dir", str(trio.runtime_dir)]
    bare = {"NO_COLOR": ""}
    text = on_terminal(command, bare)
    assert "\033[32mpassing\033[0m" in text and "\033[1;31mcritical\033[0m" in text
    assert "\033" not in on_terminal(command, {"NO_COLOR": "1"})
    assert "\033" not in on_terminal(command, {**bare, "TERM": "dumb"})


def test_watch_outlives_a_restart(lab):
    daemon = lab.probity({"consul": "off", "checks": [
        {"name": "a", "node": True, "script": ["/bin/true"]}]})
    watcher = lab.spawn([PROBITY, "status", "--watch", "--runtime-dir", str(daemon.runtime_dir)],
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(watcher.stdout.readline, b"")),
                              daemon=True)
    reader.start()

    def heads():
        return sum(line.startswith(b"probity 0.") for line in lines)
    wait_for(lambda: heads() >= 2, 5, what=lambda: f"two tables; {lines}")
    daemon.stop()
    wait_for(lambda: any(b"no daemon answers" in line for line in lines), 5, what="the gap")
    daemon.start()
    seen = heads()
    wait_for(lambda: heads() > seen, 5, what="a table of the new daemon")


def test_an_agent_out_of_reach_is_named(lab):
    daemon = lab.probity({
        "consul": {"address": f"http://127.0.0.1:{free_port()}"}, "service": {"id": "web-1"},
        "checks": [{"name": "good", "script": ["/bin/true"]}]})
    wait_for(lambda: not daemon.status()["agent"]["reachable"], 5, what="the agent's absence")
    wait_for(lambda: daemon.check("good")["status"], 5, what="a result")
    done = status(daemon)
    assert "NOT REACHABLE for" in done.stdout.splitlines()[0]
    assert "not yet" in done.stdout.splitlines()[4]
    assert done.returncode == 0, "the checks pass; the agent is not their fault"


def test_a_frozen_daemon_holds_its_directory(lab):
    daemon = lab.probity({"consul": "off", "checks": [
        {"name": "a", "node": True, "script": ["/bin/true"]}]})
    daemon.signal(signal.SIGSTOP)
    try:
        second = run_probity("run", "-c", daemon.config, "--runtime-dir", daemon.runtime_dir)
    finally:
        daemon.signal(signal.SIGCONT)
    assert second.returncode == 2 and "another probity" in second.stderr
    assert daemon.status()["pid"] == daemon.pid


def test_where_and_how_it_is_asked(trio, tmp_path):
    found = run_probity("status", "--json", env={
        "RUNTIME_DIRECTORY": f"{trio.runtime_dir}:/nowhere"})  # systemd's list
    assert found.returncode == 1 and found.stdout.startswith("{")
    nobody = run_probity("status", env={"RUNTIME_DIRECTORY": str(tmp_path)})
    assert nobody.returncode == 2 and f"{tmp_path}/control.sock" in nobody.stderr
    assert "is probity running" in nobody.stderr and nobody.stdout == ""
    assert status(trio, "--help").stdout.startswith("usage: probity status")
    for wrong in (["--bogus"], ["web-1:good"]):
        done = status(trio, *wrong)
        assert done.returncode == 2 and "--help" in done.stderr and done.stdout == ""
    (tmp_path / "control.sock").write_text("not a socket")
    taken = run_probity("run", "-c", trio.config, "--runtime-dir", tmp_path)
    assert taken.returncode == 2 and "control.sock" in taken.stderr
    assert (tmp_path / "control.sock").read_text() == "not a socket"


def test_closed_descriptors_are_nobodys(lab, tmp_path):
    """Started with 0 to 2 closed, the daemon prints into none of its own sockets."""
    _, daemon = start(lab)
    config = tmp_path / "closed.yaml"
    config.write_text(daemon.config.read_text(), encoding="utf-8")
    config.chmod(0o600)
    process = lab.spawn(["/bin/sh", "-c", f"exec {PROBITY} run -c {config} "
                         f"--runtime-dir {tmp_path} <&- >&- 2>&-"])
    wait_for((tmp_path / "control.sock").exists, 10, what="the socket")
    for number in range(3):
        assert os.readlink(f"/proc/{process.pid}/fd/{number}") == "/dev/null"
