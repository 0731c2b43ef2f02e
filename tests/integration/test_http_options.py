# SPDX-License-Identifier: MIT
"""Options of the HTTP probe: bodies, logins, headers, names, families, kept connections."""
import base64
import collections
import os
import re
import socket
import ssl
import threading
import time

import pytest

from authority import Authority
from dnsserver import DnsServer
from http_bench import expect, probe_all, write_config
from lab import HttpServer, Reply, descriptors, run_probity, wait_for

SECRET = "S3CRET"


@pytest.fixture(name="server")
def _server(lab):
    return lab.server()


def one(lab, http, **top):
    return probe_all(lab, {"a": http}, **top)


# Bodies.

def test_bodies_of_three_kinds(lab, server):
    file = lab.subfolder("k") / "value"
    file.write_text(f"{SECRET} & more\n")
    session = probe_all(lab, {
        "form": {"url": f"{server.url}/form", "form": {
            "a b": "c&d=é", "empty": "", "file": {"file": str(file)}}},
        "json": {"url": f"{server.url}/json", "json_body": {
            "n": 5, "t": "5", "f": 1.5, "b": True, "null": None, "l": [1, "x", {}]}},
        "raw": {"url": f"{server.url}/raw", "body": "x y"},
        "put": {"url": f"{server.url}/put", "method": "PUT", "json_body": [1],
                "headers": {"Content-Type": "application/vnd.api+json"}},
    })
    assert {result.status for result in session.results.values()} == {"passing"}
    assert SECRET not in session.text
    seen = {request.target: request for request in server.requests}
    assert seen["/form"].body.decode() == \
        f"a+b=c%26d%3D%C3%A9&empty=&file={SECRET}+%26+more"
    assert seen["/form"].header("Content-Type") == "application/x-www-form-urlencoded"
    assert seen["/json"].body.decode() == \
        '{"n":5,"t":"5","f":1.5,"b":true,"null":null,"l":[1,"x",{}]}'
    assert seen["/json"].header("Content-Type") == "application/json"
    assert (seen["/raw"].body, seen["/raw"].header("Content-Type")) == (b"x y", None)
    assert {seen[target].method for target in ("/form", "/json", "/raw")} == {"POST"}
    assert (seen["/put"].method, seen["/put"].body) == ("PUT", b"[1]")
    assert seen["/put"].header("Content-Type") == "application/vnd.api+json"


def test_a_redirected_form_is_dropped_by_the_rules(lab, server):
    server.hook = lambda request: Reply(303, headers={"Location": "/there"}) \
        if request.path == "/form" else None
    session = one(lab, {"url": f"{server.url}/form", "form": {"a": "b"}})
    assert session.results["a"].status == "passing"
    there = server.requests[-1]
    assert (there.method, there.body, there.header("Content-Type")) == ("GET", b"", None)


def test_what_cannot_be_read_is_not_sent(lab, server):
    session = probe_all(lab, {
        "form": {"url": server.url, "form": {"a": {"file": "/nonexistent"}}},
        "login": {"url": server.url,
                  "basic_auth": {"user": "u", "password": {"file": "/nonexistent"}}}})
    expect(session.results["form"], "critical",
           "cannot read secret: form a: /nonexistent: No such file or directory")
    expect(session.results["login"], "critical",
           "cannot read secret: basic_auth: /nonexistent: No such file or directory")
    assert not server.requests


# Who asks.

def test_a_login_from_a_file_goes_to_its_own_place_only(lab, server):
    away = lab.server()
    file = lab.subfolder("k") / "password"
    file.write_text(f"{SECRET}:x\n")
    server.hook = lambda request: Reply(302, headers={"Location": f"{away.url}/"})
    session = one(lab, {"url": server.url, "redirects": "follow",
                        "basic_auth": {"user": "probe", "password": {"file": str(file)}}})
    assert session.results["a"].status == "passing" and SECRET not in session.text
    login = base64.b64encode(f"probe:{SECRET}:x".encode()).decode()
    assert server.requests[0].header("Authorization") == f"Basic {login}"
    assert away.requests[0].header("Authorization") is None


# Headers of the answer.

HEADERS = {"Content-Type": "application/json; charset=utf-8", "X-Ready": "yes", "X-Empty": ""}
RULES = {
    "matches": ({"header_match": {"content-type": "^application/json", "X-Ready": "^yes$"}},
                "passing", "HTTP 200"),
    "differs": ({"header_match": {"X-Ready": "^no$"}}, "critical",
                "assertion failed: HTTP 200, header_match: X-Ready does not match"),
    "missing": ({"header_match": {"X-Other": "."}}, "critical",
                "assertion failed: HTTP 200, header_match: X-Other no such header"),
    "empty": ({"header_match": {"X-Empty": "^$"}}, "passing", "HTTP 200"),
    "several": ({"header_match": {"Set-Cookie": "^b="}}, "passing", "HTTP 200"),
    "rejects": ({"header_reject": {"Set-Cookie": "^b="}}, "critical",
                "assertion failed: HTTP 200, header_reject: Set-Cookie matches"),
    "rejects-not": ({"header_reject": {"X-Ready": "no", "X-Other": "."}}, "passing", "HTTP 200"),
    "costly": ({"header_match": {"X-Long": "(x+x+)+[yz]"}}, "critical",
               "cannot decide: HTTP 200, header_match: X-Long the pattern takes too much .*"),
    "costly-reject": ({"header_reject": {"X-Long": "(x+x+)+[yz]"}}, "critical",
                      "cannot decide: HTTP 200, header_reject: X-Long .*"),
}


def test_rules_on_headers(lab, server):
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    raw = ("HTTP/1.1 100 Continue\r\nX-Other: early\r\n\r\nHTTP/1.1 200 OK\r\n" + head +
           "Set-Cookie: a=1\r\nset-cookie: b=2\r\nX-Long: " + "x" * 4000 +
           "\r\nContent-Length: 2\r\n\r\nok")
    server.hook = lambda request: Reply(raw=raw.encode())
    session = probe_all(lab, {name: {"url": server.url, **http}
                              for name, (http, _, _) in RULES.items()})
    for name, (_, status, pattern) in RULES.items():
        expect(session.results[name], status, pattern)


# Names and addresses.

def test_the_host_is_asked_for_and_the_url_connected_to(lab, server):
    one(lab, {"url": f"{server.url}/x", "host": "web.internal:8443"})
    assert server.requests[0].header("Host") == "web.internal:8443"


def test_a_unix_socket(lab):
    folder = lab.subfolder("u")
    path = str(folder / "web.sock")
    server = HttpServer(unix=path)
    lab.defer(server.stop)
    (folder / "dead.sock").touch()
    silent = socket.socket(socket.AF_UNIX)
    silent.bind(str(folder / "silent.sock"))
    silent.listen(1)
    lab.defer(silent.close)
    server.hook = lambda request: Reply(302, headers={"Location": "https://web.internal/"}) \
        if request.path == "/up" else None
    session = probe_all(lab, {
        "fine": {"url": "http://web.internal/x", "unix_socket": path},
        "up": {"url": "http://web.internal/up", "unix_socket": path},
        "missing": {"url": "http://web.internal/", "unix_socket": f"{path}.no"},
        "no-socket": {"url": "http://web.internal/", "unix_socket": str(folder / "dead.sock")},
        "silent": {"url": "http://web.internal/", "unix_socket": str(folder / "silent.sock"),
                   "_": {"timeout": "400ms"}},
        "kept": {"url": "http://web.internal/", "unix_socket": path, "reuse_connection": True}})
    expect(session.results["fine"], "passing", "HTTP 200")
    expect(session.results["kept"], "passing", "HTTP 200")
    assert server.requests[0].header("Host") == "web.internal"
    expect(session.results["up"], "critical", "redirect refused: HTTP 302 to https://web.internal/;"
           r" the socket has no other scheme \(redirects: same_host\)")
    expect(session.results["missing"], "critical",
           rf"cannot connect: {re.escape(path)}\.no No such file or directory")
    expect(session.results["no-socket"], "critical",
           r"cannot connect: .*dead\.sock Connection refused")
    expect(session.results["silent"], "critical",
           r"timed out after 400ms; .*silent\.sock, no answer")


def test_families(lab, server):
    dns = DnsServer({"two.test": ["127.0.0.1", "::1"], "four.test": ["127.0.0.1"]})
    lab.defer(dns.stop)
    six = socket.create_server(("::1", server.port), family=socket.AF_INET6, backlog=16)
    lab.defer(six.close)
    warned = b"HTTP/1.1 429 Slow\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    def serve():
        while True:
            try:
                connection, _ = six.accept()
            except OSError:
                return
            connection.recv(4096)
            connection.sendall(warned)
            connection.close()
    threading.Thread(target=serve, daemon=True).start()
    url = f"http://two.test:{server.port}/"
    checks = {"v4": {"url": url, "ip": "v4"}, "v6": {"url": url, "ip": "v6"},
              "both": {"url": url, "ip": "both"},
              "lame": {"url": f"http://four.test:{server.port}/", "ip": "both"}}
    session = probe_all(lab, checks, resolver={"servers": [dns.address]})
    expect(session.results["v4"], "passing", "HTTP 200")
    expect(session.results["v6"], "warning", "HTTP 429")
    expect(session.results["both"], "warning", "IPv6: HTTP 429")
    expect(session.results["lame"], "critical", r"cannot resolve: IPv6: four\.test: .*")
    server.hook = lambda request: Reply(500)
    session = probe_all(lab, {"both": checks["both"]}, resolver={"servers": [dns.address]})
    expect(session.results["both"], "critical", "unexpected status: IPv4: HTTP 500")


# Kept connections.

def keeping(url, **more):
    # The runs are many; each has the time that a busy machine may need.
    return {"name": "a", "interval": "100ms", "timeout": "3s",
            "http": {"url": url, "reuse_connection": True, **more}}


def daemon_of(lab, *checks):
    return lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": list(checks)})


def test_a_kept_connection_is_used_again_and_renewed(lab, server):
    daemon = daemon_of(lab, keeping(server.url, fresh_every=5))
    wait_for(lambda: len(server.requests) >= 20, 10)
    used = [request.connection for request in server.requests[:20]]
    assert used == [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5
    assert daemon.check("a")["status"] == "passing"


def test_a_connection_that_the_server_closes_is_no_failure(lab, server):
    """Idle connections live for 50 ms here; the check runs each 100 ms."""
    def linger(connection):
        connection.sendall(b"ok")
        time.sleep(0.05)
        connection.close()
    server.hook = lambda request: Reply(headers={"Content-Length": "2"}, stream=linger)
    daemon = daemon_of(lab, keeping(server.url, fresh_every=1000))
    wait_for(lambda: len(server.requests) >= 20, 10)
    assert daemon.check("a")["status"] == "passing" and not daemon.log_lines("critical")
    assert server.connections >= 20


def test_a_dead_listener_shows_with_the_next_fresh_connection(lab, server):
    daemon = daemon_of(lab, keeping(server.url, fresh_every=20))
    wait_for(lambda: len(server.requests) >= 3, 5)
    server.close(drop=False)
    asked = len(server.requests)
    daemon.wait_check("a", 5, status="critical")
    assert "Connection refused" in daemon.check("a")["output"]
    assert len(server.requests) > asked, "until then the old connection answered"


def test_nobody_shares_a_kept_connection(lab, server):
    other = {**keeping(server.url), "name": "b"}
    daemon = daemon_of(lab, keeping(server.url), other)
    wait_for(lambda: len(server.requests) >= 10, 5)
    assert server.connections == 2
    before = descriptors(daemon.pid)
    # A changed check closes what its predecessor kept.
    for count in range(3):
        daemon.reload({"consul": "off", "service": {"id": "web-1"}, "checks": [
            keeping(server.url, fresh_every=50 + count), other]})
        wait_for(lambda wanted=count + 1: daemon.status()["reloads"] == wanted, 5)
        asked = len(server.requests)
        wait_for(lambda more=asked: len(server.requests) >= more + 4, 5)
    assert descriptors(daemon.pid) <= before + 1


def test_tls_over_a_kept_connection(lab):
    authority = Authority(lab.subfolder("a"))
    pair = authority.issue("IP:127.0.0.1", days=40)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server = HttpServer(tls=context)
    lab.defer(server.stop)
    daemon = daemon_of(lab, keeping(server.url, fresh_every=4, tls={
        "ca_file": str(authority.file), "expires": {"note": "50d"}}))
    wait_for(lambda: len(server.requests) >= 12, 10)
    # A run that a busy machine made void or late takes its connection with it.
    used = collections.Counter(request.connection for request in server.requests)
    assert max(used.values()) == 4, used
    # Known from the handshake, and said at each run.
    assert ", within 50d" in daemon.check("a")["output"]
    server.drop()
    wait_for(lambda: server.connections >= 5, 10)
    assert not daemon.log_lines("critical")


# What -v shows.

def test_verbose_tells_the_story_without_secrets(lab, server):
    server.hook = lambda request: Reply(302, headers={"Location": "/there?token=S3CRET8"}) \
        if request.path == "/here" else Reply(body="all ready", headers={"X-Ready": "yes"})
    config = write_config(lab.subfolder("v"), {"a": {
        "url": f"http://u:{SECRET}@127.0.0.1:{server.port}/here?key={SECRET}", "body": "x=1",
        "method": "GET", "headers": {"X-Key": SECRET}, "header_match": {"X-Ready": "yes"},
        "body_match": "ready", "body_reject": "down"}})
    out = run_probity("probe", "-v", "-c", config).stdout
    assert SECRET not in out
    story = [line.split(None, 3)[2:] for line in out.splitlines()[2:]
             if line.split()[2] in ("request", "answer", "redirect", "assertion")]
    host = f"127.0.0.1:{server.port}"
    assert [kind for kind, _ in story] == [
        "request", "answer", "redirect", "request", "answer", "assertion", "assertion",
        "assertion"]
    told = [text for _, text in story]
    assert told[0] == f"GET http://{host}/here?…, 3 bytes of body"
    assert told[1].startswith("HTTP/1.1 302, ") and told[2] == f"HTTP 302 to http://{host}/there?…"
    assert told[4].endswith("9 bytes of body")
    assert told[5:] == ["header_match X-Ready 'yes': matches",
                        "body_match 'ready' is in the body", "body_reject 'down' is not in the body"]
    os.unlink(config)
