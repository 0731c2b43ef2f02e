# SPDX-License-Identifier: MIT
"""status and its socket: what is said is true, and nobody who asks can hold up a probe."""
import http.client
import os
import socket
import stat
import time

from lab import FakeAgent, run_probity, wait_for


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
    assert status["uptime"] > 0.5 and status["pid"] == daemon.process.pid


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


def test_silent_clients_delay_nothing(lab):
    _, daemon = start(lab)
    silent = []
    for _ in range(14):
        client = socket.socket(socket.AF_UNIX)
        client.connect(os.fspath(daemon.runtime_dir / "control.sock"))
        client.send(b"GET /v1/st")
        silent.append(client)
    before = daemon.check("web-1:good")["runs"]
    time.sleep(2.5)
    check = daemon.check("web-1:good")
    assert check["runs"] >= before + 2
    assert check["lateness"] < 0.3
    for client in silent:
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
    assert "the configuration from before stays in force" in daemon.log_text()
    assert daemon.check("web-1:bad")["status"] == "warning"
