# SPDX-License-Identifier: MIT
"""The tcp probe: what a server says, in which pieces, and how the talk ends."""
import re
import socket
import time

import pytest

from lab import free_port, run_probity, wait_for
from net_bench import TcpServer, expect, probe_all, reset, write_config

GREETING = "^220 .*ESMTP"
LATE = (1.0, 1.3)


def split_greeting(connection):
    for piece in (b"22", b"0 mx ESM", b"TP\r\n"):
        connection.sendall(piece)
        time.sleep(0.1)
    connection.recv(1)


def silent(connection):
    connection.recv(1)


def refuse(connection):
    connection.sendall(b"554 no\r\n")


def mumble(connection):
    connection.sendall(b"421 later\r\n")
    connection.recv(1)


def upper(connection):
    while data := connection.recv(100):
        connection.sendall(data.upper())


def flood(connection):
    while True:
        connection.sendall(b"x" * 4096)


def latin(connection):
    connection.sendall(b"220 M\xfcnchen ESMTP\r\n")
    connection.recv(1)


def hang_up(connection):
    connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module", name="servers")
def _servers(module_lab):
    made = {}
    for play in (split_greeting, silent, refuse, mumble, upper, flood, latin, hang_up, reset):
        made[play.__name__] = TcpServer(play)
        module_lab.defer(made[play.__name__].stop)
    return made


@pytest.fixture(scope="module", name="faults")
def _faults(servers, module_lab):
    """name -> (keys of tcp:, keys of the check, status, output, seconds)."""
    def at(play, **keys):
        return {"address": servers[play].address, **keys}

    def connected(play):
        return "connected to " + re.escape(servers[play].address)

    closed = f"127.0.0.1:{free_port()}"
    socket_path = str(module_lab.subfolder("u") / "tcp.sock")
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(socket_path)
    unix.listen(4)
    module_lab.defer(unix.close)
    return {
        "split": (at("split_greeting", expect=GREETING), {}, "passing",
                  connected("split_greeting"), (0.2, 0.5)),
        "silent": (at("silent", expect=GREETING), {"timeout": "1s"}, "critical",
                   f"timed out after 1s; {connected('silent')}, nothing received", LATE),
        "refuse": (at("refuse", expect=GREETING), {}, "critical",
                   "assertion failed: 'expect' not found before the connection was closed\n"
                   "554 no", (0, 0.3)),
        "reset": (at("reset", expect=GREETING), {}, "critical",
                  "(answer cut short|cannot connect): .*Connection reset by peer", (0, 0.3)),
        "hang-up": (at("hang_up", expect=GREETING), {}, "critical",
                    "answer cut short: connection closed before anything was received", (0, 0.3)),
        "mumble": (at("mumble", expect=GREETING), {"timeout": "1s"}, "critical",
                   f"timed out after 1s; {connected('mumble')}, 'expect' not found\n421 later",
                   LATE),
        "send": (at("upper", send=r"ping\x21\r\n", expect=r"^PING!\r\n"), {}, "passing",
                 connected("upper"), (0, 0.3)),
        "send-only": (at("upper", send="x"), {}, "passing", connected("upper"), (0, 0.3)),
        "flood": (at("flood", expect="ready"), {}, "critical",
                  "cannot decide: 'expect' not found in the first 64 KiB\nx+.*bytes left out.*",
                  (0, 1)),
        "costly": (at("flood", expect="(x+x+)+[yz]"), {}, "critical",
                   "cannot decide: 'expect': the pattern takes too much .*", (0, 1)),
        "latin": (at("latin", expect=GREETING), {}, "passing", connected("latin"), (0, 0.3)),
        "plain": (servers["silent"].address, {}, "passing", connected("silent"), (0, 0.3)),
        "closed": (closed, {}, "critical",
                   f"cannot connect: {re.escape(closed)} Connection refused", (0, 0.3)),
        "family": ({"address": closed, "ip": "v6"}, {}, "critical",
                   "cannot resolve: 127.0.0.1: not an IPv6 address", (0, 0.3)),
        "unix": (f"unix://{socket_path}", {}, "passing",
                 f"connected to {re.escape(socket_path)}", (0, 0.3)),
        "no-socket": (f"unix://{socket_path}.no", {}, "critical",
                      f"cannot connect: {re.escape(socket_path)}.no No such file or directory",
                      (0, 0.3)),
    }


@pytest.fixture(scope="module", name="runs")
def _runs(module_lab, faults):
    checks = {name: {"tcp": keys, **more} for name, (keys, more, *_) in faults.items()}
    return [probe_all(module_lab, checks) for _ in range(3)]


def test_each_fault_has_its_verdict(faults, runs):
    for name, (_, _, status, output, within) in faults.items():
        expect(runs[0][name], status, output, within)


def test_equal_results_have_equal_texts(faults, runs):
    for name in faults:
        if name not in ("flood", "costly", "reset"):
            assert len({run[name]["output"] for run in runs}) == 1, name


def test_a_greeting_not_read_is_no_reset(lab):
    ends = []

    def greet(connection):
        connection.sendall(b"220 mx ESMTP\r\n")
        connection.settimeout(3)
        try:
            ends.append(connection.recv(1))
        except OSError as error:
            ends.append(error)

    server = TcpServer(greet)
    lab.defer(server.stop)
    probe_all(lab, {"first": {"tcp": {"address": server.address, "expect": "220"}}})
    wait_for(lambda: ends, 5, what="the end at the server")
    assert ends == [b""]


@pytest.mark.parametrize("keys, problem", [
    ({"expect": "^220 (abc"}, r"net.yaml:\d+:\d+: error: .*'expect'.*missing closing parenthesis"),
    ({"expect": ""}, r"net.yaml:\d+:\d+: error: .*'expect'.*not empty"),
    ({"send": r"a\q"}, r"net.yaml:\d+:\d+: error: .*'send'.*backslash"),
    ({"address": "127.0.0.1:65536"}, r"net.yaml:\d+:\d+: error: "),
    ({"address": "127.0.0.1"}, r"net.yaml:\d+:\d+: error: "),
    ({"ip": "v5"}, r"net.yaml:\d+:\d+: error: "),
    ({"exspect": "x"}, r"net.yaml:\d+:\d+: error: .*did you mean 'expect'"),
])
def test_a_mistake_is_said_with_its_place(lab, keys, problem):
    tcp = {"address": "127.0.0.1:25", **keys}
    done = run_probity("validate", "-c", write_config(lab.subfolder("n"), {"port": {"tcp": tcp}}))
    assert done.returncode == 2 and re.search(problem, done.stderr), done.stderr
