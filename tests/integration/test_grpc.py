# SPDX-License-Identifier: MIT
"""The grpc probe against a real server, and against all that can stand in its place."""
import json
import re
import signal
import ssl
import time

import pytest

import h2_server as h2
from authority import Authority
from dnsserver import SILENCE, DnsServer
from grpc_server import NOT_SERVING, SERVICE_UNKNOWN, SERVING, UNKNOWN, GrpcServer
from lab import (SANITIZED, TOLERANCE, descriptors, free_port, memory_kib, run_probity,
                 wait_for)
from net_bench import DeafListener, TcpServer, expect, probe_all, reset, write_config
from nginx import Nginx

SOON = (0, 1)
CUT = "answer cut short: the connection was closed (inside the|without an) answer"
LATE = (1.0, 1.3)
STATUSES = {
    "": SERVING, "down": NOT_SERVING, "unknown": UNKNOWN, "strange": 9,
    "gone": SERVICE_UNKNOWN, "slow": {"sleep": 2}, "empty": {"bytes": ""},
    "garbage": {"bytes": "0b01"}, "new": {"bytes": "08021a0178080155"[:14]},
    "dies": {"abort": ["UNAVAILABLE", "draining: 100 % of ümlauts\nand a line"]},
    "denies": {"abort": ["UNAUTHENTICATED", "no token"]},
}


def tls_play(authority):
    """Greets as a TLS server without ALPN, and one whose ALPN is HTTP/1.1 only."""
    pair = authority.issue("IP:127.0.0.1")

    def make(protocols):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        if protocols:
            context.set_alpn_protocols(protocols)

        def play(connection):
            with context.wrap_socket(connection, server_side=True) as secure:
                heard.append(secure.recv(1000))
        return play
    heard = []
    return make, heard


class Bench:
    """Real servers of each kind, and their impostors."""

    def __init__(self, lab):
        self.lab = lab
        self.authority = Authority(lab.subfolder("a"))
        self.other = Authority(lab.subfolder("a"), "Other")
        self.client = self.authority.issue("DNS:client")
        self.path = f"unix://{lab.subfolder('u')}/grpc.sock"
        pairs = {"tls": self.authority.issue("IP:127.0.0.1", "DNS:grpc.internal", days=40),
                 "misnamed": self.authority.issue("DNS:other.internal"),
                 "foreign": self.other.issue("IP:127.0.0.1")}
        self.servers = {
            "clear": GrpcServer(statuses=dict(STATUSES)),
            "unix": GrpcServer(self.path),
            "bare": GrpcServer(health=False),
            "mutual": GrpcServer(pair=pairs["tls"], clients=self.authority.file),
            **{kind: GrpcServer(pair=pair) for kind, pair in pairs.items()}}
        for server in self.servers.values():
            lab.defer(server.stop)
        self.unheard = []

    def play(self, play):
        server = TcpServer(play)
        self.lab.defer(server.stop)
        return server.address

    def at(self, kind, **keys):
        return {"address": self.servers[kind].address, **keys}

    def tls(self, kind, **tls):
        return self.at(kind, tls={"ca_file": str(self.authority.file), **tls})


@pytest.fixture(scope="module", name="bench")
def _bench(module_lab):
    return Bench(module_lab)


@pytest.fixture(scope="module", name="faults")
def _faults(bench):
    """name -> (keys of grpc:, keys of the check, status, output, seconds)."""
    at, tls = bench.at, bench.tls
    closed = f"127.0.0.1:{free_port()}"
    client = {"cert_file": str(bench.client.certificate), "key_file": str(bench.client.key)}
    status, failed = "unexpected status: ", "TLS failed: "
    clear = re.escape(bench.servers["clear"].address)
    rows = {
        "serving": (at("clear"), {}, "passing", "SERVING"),
        "short": (bench.servers["clear"].address, {}, "passing", "SERVING"),
        "new": (at("clear", service="new"), {}, "passing", "SERVING"),
        "unix": (at("unix"), {}, "passing", "SERVING"),
        "tls": (tls("tls"), {}, "passing", "SERVING"),
        "tls-name": (tls("tls", server_name="grpc.internal"), {}, "passing", "SERVING"),
        "tls-authority": ({**tls("tls"), "authority": "grpc.internal:443"}, {}, "passing",
                          "SERVING"),
        "tls-unverified": (tls("misnamed", verify=False), {}, "passing", "SERVING"),
        "mutual": (tls("mutual", **client), {}, "passing", "SERVING"),
        "ends": (tls("tls", expires={"note": "50d"}), {}, "passing",
                 r"SERVING; certificate CN=lab ends on \d{4}-\d\d-\d\d, within 50d"),
        "ends-soon": (tls("tls", expires={"critical": "50d"}), {}, "critical",
                      r"ends too soon: certificate CN=lab ends on .*, within 50d"),
        # What the server says.
        "down": (at("clear", service="down"), {}, "critical", status + "NOT_SERVING"),
        "unknown": (at("clear", service="unknown"), {}, "critical", status + "UNKNOWN"),
        "empty": (at("clear", service="empty"), {}, "critical", status + "UNKNOWN"),
        "gone": (at("clear", service="gone"), {}, "critical", status + "SERVICE_UNKNOWN"),
        "strange": (at("clear", service="strange"), {}, "critical", status + "serving status 9"),
        "garbage": (at("clear", service="garbage"), {}, "critical",
                    "protocol error: the message is not a HealthCheckResponse"),
        "nobody": (at("clear", service="nobody"), {}, "critical", status + re.escape(
            "NOT_FOUND (5), the server does not know the service 'nobody': unknown service")),
        "dies": (at("clear", service="dies"), {}, "critical", status + re.escape(
            "UNAVAILABLE (14): draining: 100 % of ümlauts and a line")),
        "denies": (at("clear", service="denies"), {}, "critical",
                   status + re.escape("UNAUTHENTICATED (16): no token")),
        "bare": (at("bare"), {}, "critical", status + re.escape(
            "UNIMPLEMENTED (12), the server has no health service: Method not found!")),
        "slow": (at("clear", service="slow"), {"timeout": "1s"}, "critical",
                 f"timed out after 1s; {clear} connected, no answer", LATE),
        # Certificates.
        "misnamed": (tls("misnamed"), {}, "critical",
                     failed + r"hostname mismatch: the certificate is not for 127\.0\.0\.1"),
        "misnamed-authority": ({**tls("tls"), "authority": "web.internal"}, {}, "critical",
                               failed + "hostname mismatch: the certificate is not for web.internal"),
        "foreign": (tls("foreign"), {}, "critical", failed + "unable to get local issuer certificate"),
        "no-client": (tls("mutual"), {}, "critical", "answer cut short: the connection "
                      r"was closed without an answer; does the server want a client certificate\?"),
        "no-ca": (tls("tls", ca_file="/nonexistent.pem"), {}, "critical",
                  failed + "/nonexistent.pem: No such file or directory"),
        # Nobody there.
        "closed": (closed, {}, "critical", f"cannot connect: {re.escape(closed)} Connection refused"),
        "no-socket": (bench.path + ".no", {}, "critical",
                      f"cannot connect: {bench.path[7:]}.no No such file or directory"),
        "no-secret": (at("clear", metadata={"authorization": {"file": "/nonexistent"}}), {},
                      "critical", "cannot read secret: metadata authorization: /nonexistent: "
                      "No such file or directory"),
    }
    return {name: row if len(row) == 5 else (*row, SOON) for name, row in rows.items()}


def check_all(lab, faults, times=2):
    """Each row has its verdict, and the same words each time."""
    checks = {name: {"grpc": keys, **more} for name, (keys, more, *_) in faults.items()}
    runs = [probe_all(lab, checks) for _ in range(times)]
    for name, (_, _, status, output, within) in faults.items():
        expect(runs[0][name], status, output, within)
        # What had come when the connection was lost is a matter of packets.
        assert output == CUT or len({run[name]["output"] for run in runs}) == 1, name


def test_each_fault_of_a_real_server(lab, faults):
    check_all(lab, faults)


def linger(*pieces, end=None):
    """Says something when it is spoken to, and stays."""
    def play(connection):
        connection.recv(1)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.02)
        if end:
            end(connection)
        while connection.recv(65536):
            pass
    return play


def greet(text):
    def play(connection):
        connection.sendall(text)
        while connection.recv(65536):
            pass
    return play


def test_what_does_not_speak_grpc_is_named(lab, bench):
    ports = free_port(), free_port()
    nginx = Nginx(lab.subfolder("n"), f"""
        server {{ listen 127.0.0.1:{ports[0]}; location / {{ return 200 'ok'; }} }}
        server {{ listen 127.0.0.1:{ports[1]} http2; location / {{ return 404 'no'; }} }}""", ports)
    lab.defer(nginx.stop)
    make, heard = tls_play(bench.authority)
    no_alpn, old_alpn = bench.play(make(None)), bench.play(make(["http/1.1"]))
    no_http2 = "protocol error: the server does not speak HTTP/2"
    closed = r"answer cut short: the connection was closed without an answer; is this a TLS port\?"
    clear = r"TLS failed: no handshake; is this a TLS port\?"

    def secret(address):
        return {"address": address, "tls": {"ca_file": str(bench.authority.file)},
                "metadata": {"authorization": "S3CRET"}}

    rows = {
        "nginx": (f"127.0.0.1:{ports[0]}", "protocol error: the server speaks HTTP/1, not HTTP/2"),
        "nginx-h2": (f"127.0.0.1:{ports[1]}", "unexpected status: HTTP 404"),
        "nginx-tls": ({"address": f"127.0.0.1:{ports[0]}", "tls": {}}, clear),
        "text": (bench.play(linger(b"-ERR unknown command\r\n")), no_http2),
        "text-pieces": (bench.play(linger(b"-", b"ERR", b" unknown command\r\n")), no_http2),
        "text-tls": ({"address": bench.play(linger(b"-ERR unknown command\r\n")), "tls": {}}, clear),
        "greeting": (bench.play(greet(b"220 mx ESMTP\r\n")), no_http2),
        "greeting-reset": (bench.play(linger(b"220 mx ESMTP\r\n", end=reset)), no_http2),
        "closes": (bench.play(lambda connection: connection.recv(1)), closed),
        "resets": (bench.play(linger(end=reset)), closed),
        "alert": (bench.play(linger(bytes.fromhex("15030100020250"))),
                  "protocol error: the server speaks TLS, and `tls` is not set"),
        "grpc-tls": (bench.servers["tls"].address, "(protocol error: the server speaks TLS, and "
                     "`tls` is not set|" + closed + ")"),
        "grpc-clear": (bench.at("clear", tls={}), clear),
        "no-alpn": (secret(no_alpn),
                    r"protocol error: the server does not agree to HTTP/2 \(ALPN\)"),
        "old-alpn": (secret(old_alpn),
                     r"protocol error: the server does not agree to HTTP/2 \(ALPN\)"),
    }
    check_all(lab, {name: (keys, {}, "critical", output, SOON)
                    for name, (keys, output) in rows.items()}, times=3)
    # Nothing was said to those that speak another version.
    assert set(heard) <= {b""}, heard


def test_answers_that_only_a_broken_server_gives(lab, bench):
    grpc, serving, done = h2.headers(h2.GRPC), h2.data(h2.SERVING), h2.headers(h2.OK, end=True)
    plays = {
        "fine": (h2.answers(grpc, serving, done), "passing", "SERVING"),
        "pieces": (h2.answers(grpc, serving, done, piece=1, pause=0.001), "passing", "SERVING"),
        "split": (h2.answers(grpc, h2.data(h2.SERVING[:3]), h2.data(h2.SERVING[3:6]),
                             h2.data(h2.SERVING[6:]), done), "passing", "SERVING"),
        "trailers-only": (h2.answers(h2.headers(
            {**h2.GRPC, "grpc-status": "8", "grpc-message": "too%20much"}, end=True)), "critical",
            r"unexpected status: RESOURCE_EXHAUSTED \(8\): too much"),
        "no-trailers": (h2.answers(grpc, h2.data(h2.SERVING, end=True)), "critical",
                        "protocol error: a message, but no trailers with a grpc-status"),
        "no-status": (h2.answers(h2.headers(h2.GRPC, end=True)), "critical",
                      "protocol error: HTTP 200, but no grpc-status"),
        "no-message": (h2.answers(grpc, done), "critical",
                       "protocol error: grpc-status is OK, but no message came"),
        "html": (h2.answers(h2.headers({":status": "200", "content-type": "text/html"}),
                            h2.data(b"<html>" * 1000, end=True)), "critical",
                 "protocol error: the answer is not gRPC: its content type is 'text/html'"),
        "502": (h2.answers(h2.headers({":status": "502", "content-type": "text/html"}),
                           h2.data(b"<html>", end=True)), "critical",
                "unexpected status: HTTP 502"),
        "compressed": (h2.answers(grpc, h2.data(b"\1" + h2.SERVING[1:]), done), "critical",
                       "protocol error: the message is compressed, which was not offered"),
        "two": (h2.answers(grpc, h2.data(h2.SERVING * 2), done), "critical",
                "protocol error: more than one message"),
        "cut": (h2.answers(grpc, h2.data(h2.SERVING[:6]), done), "critical",
                "answer cut short: the message is not whole"),
        "long": (h2.answers(grpc, h2.data(bytes([0, 0, 1, 0, 0]) + bytes(10000))), "critical",
                 "protocol error: the message has 65536 bytes; at most 4096 are taken"),
        "reset-stream": (h2.answers(grpc, h2.frame(h2.RST_STREAM, 0, 1, bytes(3) + b"\2")),
                         "critical", "answer cut short: the stream was reset"),
        "refused-stream": (h2.answers(h2.frame(h2.RST_STREAM, 0, 1, bytes(3) + b"\7")),
                           "critical", "answer cut short: the server did not take the request"),
        "goaway": (h2.answers(h2.frame(h2.GOAWAY, 0, 0, bytes(8))),
                   "critical", "protocol error: an error in HTTP/2"),
        "reset": (h2.answers(grpc, serving, then=reset), "critical", CUT),
        "closed": (h2.answers(grpc, then=lambda c: c.close()), "critical", CUT),
    }
    checks = {name: (bench.play(play), {}, status, output, SOON)
              for name, (play, status, output) in plays.items()}
    checks["silent"] = (bench.play(h2.answers()), {"timeout": "1s"}, "critical",
                        r"timed out after 1s; 127\.0\.0\.1:\d+ connected, no answer", LATE)
    checks["half"] = (bench.play(h2.answers(grpc, serving)), {"timeout": "1s"}, "critical",
                      r"timed out after 1s; 127\.0\.0\.1:\d+ connected, a message, but no "
                      "grpc-status", LATE)
    check_all(lab, checks)


def test_what_the_server_gets(lab, bench):
    (folder := lab.subfolder("s")).joinpath("token").write_text("S3CRET2\n")
    metadata = {"authorization": {"file": str(folder / "token"), "prefix": "Bearer "},
                "x-plain": "S3CRET1", "x-raw-bin": "S3CRET\xfc", "x-empty": ""}
    config = write_config(folder, {"metadata": {"grpc": bench.at(
        "clear", service="shop.Orders", authority="shop.internal:443", metadata=metadata)}})
    before = len(bench.servers["clear"].calls())
    done = run_probity("probe", "-c", config, "--json", "-v")
    text = run_probity("probe", "-c", config, "-v")
    call = bench.servers["clear"].calls()[before]
    assert call["service"] == "shop.Orders" and call["method"] == "Check"
    sent = call["metadata"]
    assert sent["authorization"] == "Bearer S3CRET2" and sent["x-plain"] == "S3CRET1"
    assert sent["x-raw-bin"] == "S3CRET\xfc".encode().hex() and sent["x-empty"] == ""
    assert re.match(r"grpc-c-probity/\d", sent["user-agent"])
    assert set(sent) == {*metadata, "user-agent", "content-length"}
    assert 3.5 < call["left"] <= 4
    assert "S3CRET" not in done.stdout + done.stderr + text.stdout + text.stderr
    for word in ("request", "Check of 'shop.Orders' at shop.internal:443", "connect", "send",
                 "receive", "grpc-status 5"):
        assert word in text.stdout, text.stdout


def test_names_and_addresses(lab, bench):
    dns = DnsServer({"second.test": ["127.0.0.2", "127.0.0.1"], "deaf.test": ["127.0.0.3",
                    "127.0.0.1"], "dead.test": ["127.0.0.2", "127.0.0.4"], "hang.test": SILENCE})
    lab.defer(dns.stop)
    port = bench.servers["clear"].port
    deaf = DeafListener("127.0.0.3", port)
    lab.defer(deaf.stop)
    rows = probe_all(lab, {
        **{name: {"grpc": f"{name}.test:{port}"} for name in ("second", "deaf", "dead")},
        "six": {"grpc": {"address": f"second.test:{port}", "ip": "v6"}},
        "hang": {"grpc": f"hang.test:{port}", "timeout": "1s"},
    }, resolver={"servers": [dns.address], "timeout": "300ms", "tries": 3})
    expect(rows["second"], "passing", "SERVING", (0, 0.5))
    expect(rows["deaf"], "passing", "SERVING", (0, 3))
    expect(rows["dead"], "critical", "cannot connect: " + ", ".join(
        rf"127\.0\.0\.{last}:{port} Connection refused" for last in (2, 4)), (0, 0.5))
    expect(rows["six"], "critical", "cannot resolve: second.test: the name has no such address")
    expect(rows["hang"], "critical", "timed out after 1s; looking up hang.test", LATE)


def test_a_silent_resolver_delays_nobody(lab, bench, agent):
    dns = DnsServer({"hang.test": SILENCE})
    lab.defer(dns.stop)
    daemon = lab.probity({
        "consul": agent.url, "service": {"id": "web-1"},
        "resolver": {"servers": [dns.address], "timeout": "300ms", "tries": 3},
        "checks": [{"name": "hang", "grpc": "hang.test:1", "timeout": "1s", "interval": "1s"},
                   {"name": "beat", "grpc": bench.at("clear"), "interval": "500ms"}]})
    daemon.wait_check("hang", status="critical")
    before, began = len(bench.servers["clear"].calls()), time.monotonic()
    time.sleep(3)
    done, seconds = len(bench.servers["clear"].calls()) - before, time.monotonic() - began
    assert abs(done - seconds / 0.5) <= 1.5, (done, seconds)
    began = time.monotonic()
    assert daemon.stop() == 0
    assert time.monotonic() - began <= 2 + TOLERANCE


def test_a_server_that_is_stopped_restarted_and_gone(lab, agent):
    server = GrpcServer()
    lab.defer(lambda: server.stop())
    address = server.address
    daemon = lab.probity({
        "consul": agent.url, "service": {"id": "web-1"},
        "checks": [{"name": "health", "interval": "500ms", "timeout": "500ms", "grpc": {
            "address": address, "metadata": {"authorization": "S3CRET"}}}]})
    daemon.wait_check("health", status="passing", output="SERVING")
    server.set(NOT_SERVING)
    daemon.wait_check("health", status="critical", output="unexpected status: NOT_SERVING")
    server.set(SERVING)
    daemon.wait_check("health", status="passing")
    server.signal(signal.SIGSTOP)
    daemon.wait_check("health", status="critical",
                      output=f"timed out after 500ms; {address} connected, no answer")
    server.signal(signal.SIGCONT)
    daemon.wait_check("health", status="passing")
    server.stop()
    daemon.wait_check("health", status="critical",
                      output=f"cannot connect: {address} Connection refused")
    server = GrpcServer(address)
    daemon.wait_check("health", status="passing")
    assert "S3CRET" not in daemon.log_text() + json.dumps(daemon.status())
    assert "S3CRET" not in json.dumps([update.output for update in agent.updates("web-1:health")])


def test_a_thousand_runs_leave_nothing(lab, bench):
    kinds = {"clear": bench.at("clear"), "unix": bench.at("unix"), "tls": bench.tls("tls"),
             "down": bench.at("clear", service="down"), "bare": bench.at("bare"),
             "closed": f"127.0.0.1:{free_port()}",
             "text": bench.play(linger(b"-ERR\r\n-ERR\r\n"))}
    daemon = lab.probity({"consul": "off", "checks": [
        {"name": f"{kind}{number}", "node": True, "interval": "100ms", "timeout": "100ms", "grpc": keys}
        for kind, keys in kinds.items() for number in range(4)]})

    def runs():
        return sum(check["runs"] for check in daemon.status()["checks"])

    # The heap finds its size while all sorts of runs meet.
    wait_for(lambda: runs() >= 2500, 60, what=lambda: f"runs: {runs()}")
    memory, open_before = memory_kib(daemon.pid), fewest(daemon.pid)
    wait_for(lambda: runs() >= 4000, 60, what=lambda: f"runs: {runs()}")
    # Some hundred bytes a run at most: a kept connection or handle is many times that.
    assert SANITIZED or memory_kib(daemon.pid) - memory <= 1024
    assert fewest(daemon.pid) <= open_before
    assert daemon.stop() == 0
    pid = bench.servers["clear"].process.pid
    wait_for(lambda: not established(bench.servers["clear"].port), 5,
             what=lambda: f"connections of {pid}")
    fresh = probe_all(lab, {"after": {"grpc": bench.at("clear")}})
    expect(fresh["after"], "passing", "SERVING")


def fewest(pid):
    """Descriptors in between the runs."""
    return min(descriptors(pid) for _ in range(200) if not time.sleep(0.005))


def established(port):
    """Connections of that local port that are neither listening nor in TIME_WAIT."""
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    return [row for row in rows if int(row[1].split(":")[1], 16) == port and row[3] not in ("0A", "06")]


def test_our_part_of_the_protocol(lab):
    """What a server sees of a run: no resets, no complaints, and the end in order."""
    ends = []

    def play(connection):
        session = h2.Session(connection)
        connection.sendall(h2.headers(h2.GRPC) + h2.data(h2.SERVING) + h2.headers(h2.OK, end=True))
        connection.settimeout(3)
        try:
            while True:
                session.read()
        except OSError as error:
            ends.append((str(error), [kind for kind, *_ in session.frames]))

    server = TcpServer(play)
    lab.defer(server.stop)
    expect(probe_all(lab, {"one": {"grpc": server.address}})["one"], "passing", "SERVING")
    (how, kinds), = wait_for(lambda: ends, 5, what="the end at the server")
    assert how == "closed" and h2.RST_STREAM not in kinds, (how, kinds)
    assert kinds.count(h2.HEADERS) == 1 and kinds.count(h2.DATA) == 1


def watching(lab, server, **check):
    return lab.probity({"consul": "off", "checks": [{
        "name": "health", "node": True, "interval": "60s", "timeout": "2s",
        "grpc": {"address": server.address, "watch": True}, **check}]})


def test_a_change_that_is_watched_starts_a_run_at_once(lab):
    server = GrpcServer(statuses={"": SERVING})
    lab.defer(lambda: server.stop())
    daemon = watching(lab, server)
    daemon.wait_check("health", status="passing", timeout=2)
    wait_for(lambda: server.watchers() == 1, 5, what="the watch")
    began = time.monotonic()
    server.set(NOT_SERVING)
    daemon.wait_check("health", status="critical", output="unexpected status: NOT_SERVING")
    server.set(SERVING)
    daemon.wait_check("health", status="passing")
    assert time.monotonic() - began < 1 + TOLERANCE
    # Changes that are quicker than runs: not a run for each, and the last one counts.
    before = daemon.check("health")["runs"]
    began = time.monotonic()
    for _ in range(100):
        server.set(NOT_SERVING)
        server.set(SERVING)
        time.sleep(0.005)
    server.set(NOT_SERVING)
    daemon.wait_check("health", status="critical")
    seconds, runs = time.monotonic() - began, daemon.check("health")["runs"] - before
    assert 2 <= runs <= seconds / 0.1 + 2, (runs, seconds)
    server.set(SERVING)
    daemon.wait_check("health", status="passing")
    # A server that goes ends the watch, which is worth a run as well.
    address = server.address
    server.stop()
    daemon.wait_check("health", status="critical",
                      output=f"cannot connect: {address} Connection refused", timeout=2)
    server = GrpcServer(address)
    daemon.wait_check("health", status="passing", timeout=5)
    assert not daemon.log_lines("cannot be watched")
    daemon.stop()
    wait_for(lambda: server.watchers() == 0, 5, what="the end of the watch")


def test_a_watch_is_kept_over_a_reload_and_ends_with_its_check(lab):
    server = GrpcServer(statuses={"": SERVING, "late": SERVICE_UNKNOWN})
    lab.defer(server.stop)
    daemon = watching(lab, server, grpc={"address": server.address, "service": "late", "watch": True})
    daemon.wait_check("health", status="critical", output="unexpected status: SERVICE_UNKNOWN")
    wait_for(lambda: server.watchers() == 1, 5, what="the watch")
    daemon.reload()
    daemon.logged(1, "reload", timeout=5)
    wait_for(lambda: server.watchers() == 1 and
             [call["method"] for call in server.calls()].count("Watch") == 2, 5, what="the new watch")
    server.set(SERVING, "late")
    daemon.wait_check("health", status="passing", timeout=2)
    daemon.reload({"consul": "off", "checks": [
        {"name": "health", "node": True, "interval": "60s", "grpc": server.address}]})
    wait_for(lambda: server.watchers() == 0, 5, what="the end of the watch")


def test_a_server_without_watch_is_said_once(lab):
    server = GrpcServer(health="check")
    lab.defer(server.stop)
    daemon = watching(lab, server, interval="200ms", timeout="200ms")
    daemon.wait_check("health", status="passing")
    daemon.logged(1, "probity:health: the server cannot be watched")
    wait_for(lambda: daemon.check("health")["runs"] >= 15, 10, what="runs")
    daemon.logged(1, "probity:health: the server cannot be watched")


def test_a_watch_that_fails_has_no_result(lab):
    """Refused by the server again and again, and the runs go on at their pace."""
    opened = []

    def play(connection):
        opened.append(time.monotonic())
        session = h2.Session(connection)
        connection.sendall(h2.headers({**h2.GRPC, "grpc-status": "14"}, end=True))
        session.rest()

    broken = TcpServer(play)
    lab.defer(broken.stop)
    daemon = lab.probity({"consul": "off", "checks": [{
        "name": "health", "node": True, "interval": "60s", "timeout": "2s",
        "grpc": {"address": broken.address, "watch": True}}]})
    daemon.wait_check("health", status="critical")
    time.sleep(4)
    # The run, and the watch at 0, 1 and 3 s.
    assert daemon.check("health")["runs"] == 1 and 3 <= len(opened) <= 5, opened
