# SPDX-License-Identifier: MIT
"""The bench itself: the fake agent answers as the real one does, what is started also ends."""
import http.client
import json
import os
import signal
import time

import pytest

from lab import CUT, SILENCE, Reply, Watcher, alive, free_port, wait_for
from processes import end_strays

CALLS = [
    ("PUT", "/v1/agent/check/update/t", '{"Status":"passing","Output":"x"}'),
    ("PUT", "/v1/agent/check/register", '{"ID":"t","Name":"t","ServiceID":"no","TTL":"9s"}'),
    ("PUT", "/v1/agent/check/register", '{"ID":"t","Name":"t","TTL":"9s","Bogus":1}'),
    ("PUT", "/v1/agent/check/register", '{"ID":"t","Name":"t","TTL":"9"}'),
    ("PUT", "/v1/agent/check/register",
     '{"ID":"t","Name":"t","ServiceID":"web-1","TTL":"9s","Status":"warning"}'),
    ("GET", "/v1/agent/checks", None),
    ("PUT", "/v1/agent/check/update/t", '{"Status":"Passing","Output":"x"}'),
    ("PUT", "/v1/agent/check/update/t", '{"Status":"critical","Output":"bad \\u0007"}'),
    ("PUT", "/v1/agent/check/update/t", '{"Status":"critical","Output":"raw \n"}'),
    ("POST", "/v1/agent/check/update/t", '{"Status":"critical"}'),
    ("GET", "/v1/agent/checks?filter=CheckID%20%3D%3D%20%22t%22", None),
    ("PUT", "/v1/agent/check/register",
     '{"ID":"t","Name":"t","ServiceID":"web-1","TTL":"8s","Status":"passing"}'),
    ("GET", "/v1/agent/checks", None),
    ("PUT", "/v1/agent/service/register",
     '{"ID":"db","Name":"db","Checks":[{"CheckID":"d","Name":"d","TTL":"9s","Status":"passing"}]}'),
    ("GET", "/v1/agent/checks", None),
    ("GET", "/v1/agent/service/db", None),
    ("GET", "/v1/agent/service/nope", None),
    ("PUT", "/v1/agent/check/warn/d?note=a%20b", None),
    ("GET", "/v1/agent/checks", None),
    ("PUT", "/v1/agent/service/deregister/db", None),
    ("PUT", "/v1/agent/check/deregister/t", None),
    ("GET", "/v1/agent/checks", None),
]
SAME = ("CheckID", "Name", "Status", "Output", "ServiceID", "ServiceName", "Type", "Notes")


def answers(port):
    found = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    for method, path, body in CALLS:
        connection.request(method, path, body)
        response = connection.getresponse()
        data = response.read()
        if path.startswith("/v1/agent/checks"):
            data = {ident: {key: check[key] for key in SAME}
                    for ident, check in json.loads(data).items()}
        elif response.status == 200:
            data = None
        elif response.status == 400:
            data = data[:15]
        found.append((method, path, response.status, data))
    return found


def test_fake_agent_answers_as_the_real_one(agent, consul):
    for fake, real in zip(answers(agent.port), answers(consul.port), strict=True):
        assert fake == real
    assert agent.problems


def test_fake_agent_misbehaves_when_told(agent):
    replies = iter([Reply(503, "no"), CUT, SILENCE])
    agent.hook = lambda request: next(replies)
    connection = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=0.5)
    connection.request("GET", "/v1/agent/checks")
    assert connection.getresponse().status == 503
    for error in (http.client.RemoteDisconnected, TimeoutError):
        connection.close()
        connection.request("GET", "/v1/agent/checks")
        with pytest.raises(error):
            connection.getresponse()
    connection.close()
    agent.close()
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/v1/agent/checks")
    connection.close()
    agent.open()
    agent.hook = None
    connection.request("GET", "/v1/agent/checks")
    assert connection.getresponse().status == 200
    assert agent.connections == 4


def test_fake_ttl_expires(agent):
    connection = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=5)
    connection.request("PUT", "/v1/agent/check/register",
                       '{"ID":"t","Name":"t","TTL":"400ms","Status":"passing"}')
    assert connection.getresponse().read() == b""
    assert agent.status("t") == "passing"
    wait_for(lambda: agent.status("t") == "critical", 2)


def test_watcher_sees_changes_and_a_restart(consul):
    watcher = consul.watch_check("web", "c")
    assert isinstance(watcher, Watcher)
    consul.put("/v1/agent/check/register",
               {"ID": "c", "Name": "c", "ServiceID": "web-1", "TTL": "30s"})
    wait_for(lambda: watcher.values == [None, "critical"], 3, what=lambda: watcher.values)
    consul.put("/v1/agent/check/update/c", {"Status": "passing", "Output": "x"})
    wait_for(lambda: watcher.values == [None, "critical", "passing"], 3,
             what=lambda: watcher.values)
    assert [port for port, _ in consul.dns_srv("web")] == [8080]
    assert len(consul.health("web", passing=True)) == 1
    consul.restart()
    wait_for(lambda: watcher.values[3:] == ["down", None], 5, what=lambda: watcher.values)
    assert consul.dns_srv("web") == []


def test_orphans_are_ended(lab):
    shell = lab.spawn(["/bin/sh", "-c", "setsid sleep 60 & echo $!; sleep 60"], stdout=-1)
    orphan = int(shell.stdout.readline())
    shell.send_signal(signal.SIGKILL)
    shell.wait()
    assert alive(orphan)
    wait_for(lambda: os.path.exists(f"/proc/{orphan}"))
    end_strays()
    assert not alive(orphan)
    with pytest.raises(ConnectionRefusedError):
        http.client.HTTPConnection("127.0.0.1", free_port()).request("GET", "/")


def test_recorder_logs_on_the_monotonic_clock(lab):

    recorder = lab.recorder(then="sleep 0.3; exit 3")
    before = time.monotonic()
    assert lab.spawn(recorder.command).wait() == 3
    assert abs(recorder.starts()[0] - before) < 0.3
    assert len(recorder.pids()) == 1
