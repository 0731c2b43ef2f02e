# SPDX-License-Identifier: MIT
"""The HTTP probe against a server with one fault per path: bodies, heads, status, redirects."""
import re
import time

import pytest

from faultserver import FaultServer
from http_bench import expect, probe_all
from lab import SANITIZED, TOLERANCE, Reply, free_port, holds, run_probity, wait_for

MIB = 1024 * 1024
CUT = "answer cut short: HTTP 200, the connection was"
LATE = {"_": {"timeout": "1s"}}

# What a path answers -> (keys of the probe, status, first line of the output).
FAULTS = {
    # Bodies that do not come whole.
    "stall": (LATE, "critical", "timed out after 1s; HTTP 200, body incomplete"),
    "chunk-stall": (LATE, "critical", "timed out after 1s; HTTP 200, body incomplete"),
    "drip": (LATE, "critical", "timed out after 1s; HTTP 200, body incomplete"),
    "head-drip": (LATE, "critical", "timed out after 1s; HTTP 200, headers incomplete"),
    "silent": (LATE, "critical", r"timed out after 1s; 127\.0\.0\.1:\d+ connected, no answer"),
    "cut": ({}, "critical", f"{CUT} closed inside the body"),
    "chunk-cut": ({}, "critical", f"{CUT} closed inside the body"),
    "head-cut": ({}, "critical", f"{CUT} closed inside the headers"),
    "reset-body": ({}, "critical", f"{CUT} lost: Connection reset by peer"),
    "bad-chunk": ({}, "critical", f"{CUT} lost"),
    "close": ({}, "critical", "answer cut short: the connection was closed without an answer"),
    "reset": ({}, "critical",
              "answer cut short: the connection was lost: Connection reset by peer"),
    # What is not HTTP, or too much of it.
    "no-http": ({}, "critical", "protocol error: the answer is not HTTP"),
    "many-headers": ({}, "critical", "protocol error: HTTP 200, the headers are too long"),
    "long-header": ({}, "critical", "protocol error: HTTP 200, a header is too long"),
    # Fine.
    "continue": ({"body_match": "^ready$"}, "passing", "HTTP 200"),
    "trailer": ({"body_match": "^ready$"}, "passing", "HTTP 200"),
    "until-close": ({"body_match": "all of it"}, "passing", "HTTP 200"),
    "latin": ({"body_match": "ok"}, "passing", "HTTP 200"),
    # Assertions over a body that comes in pieces.
    "split": ({"body_match": "READY=yes"}, "passing", "HTTP 200"),
    "at/4094": ({"body_match": "READY=yes"}, "passing", "HTTP 200"),
    "gzip": ({"body_match": "^f+READY=yes$"}, "passing", "HTTP 200"),
    "split?reject": ({"body_reject": "READY=yes"}, "critical",
                     "assertion failed: HTTP 200, but body_reject is in the body"),
    "split?miss": ({"body_match": "READY=no"}, "critical",
                   "assertion failed: HTTP 200, but body_match is not in the body"),
    "split?clean": ({"body_reject": "READY=no"}, "passing", "HTTP 200"),
    "status/429?match": ({"body_match": "absent"}, "critical", "assertion failed: .*"),
    "status/500?match": ({"body_match": "status"}, "critical", "unexpected status: HTTP 500"),
    "status/204?match": ({"body_match": "."}, "critical", "assertion failed: .*"),
    "status/204?empty": ({"body_match": "^$"}, "passing", "HTTP 204"),
    # Encodings that cannot be read are no match and no miss.
    "bad-gzip": ({"body_reject": "x"}, "critical",
                 "protocol error: HTTP 200, the body cannot be decoded"),
    "unknown-encoding": ({"body_reject": "x"}, "critical",
                         "protocol error: HTTP 200, the body cannot be decoded"),
    # More than the window.
    "endless": ({}, "passing", "HTTP 200"),
    "bomb": ({}, "passing", "HTTP 200"),
    "endless?match": ({"body_match": "x"}, "critical",
                      "cannot decide: HTTP 200, body exceeds match window"),
    "endless?reject": ({"body_reject": "x"}, "critical",
                       "cannot decide: HTTP 200, body exceeds match window"),
    "bomb?match": ({"body_match": "x"}, "critical",
                   "cannot decide: HTTP 200, body exceeds match window"),
    "bomb?reject": ({"body_reject": "x"}, "critical",
                    "cannot decide: HTTP 200, body exceeds match window"),
    f"size/{MIB}": ({"body_match": "END$"}, "passing", "HTTP 200"),
    f"size/{MIB + 1}": ({"body_match": "END$"}, "critical",
                        "cannot decide: HTTP 200, body exceeds match window"),
    f"size/{MIB + 2}": ({"body_match": "^xxx"}, "passing", "HTTP 200"),
    "size/1000": ({"body_match": "END$", "max_body": "1KiB"}, "passing", "HTTP 200"),
    "size/2000": ({"body_match": "END$", "max_body": "1KiB"}, "critical",
                  "cannot decide: HTTP 200, body exceeds match window"),
    # Expressions that cost too much.
    "size/60000": ({"body_match": "(x+x+)+[yz]"}, "critical", "cannot decide: HTTP 200, body_match.*"),
    "size/60001": ({"body_reject": "(x+x+)+[yz]"}, "critical",
                   "cannot decide: HTTP 200, body_reject.*"),
    # Status codes.
    "status/200": ({}, "passing", "HTTP 200"),
    "status/299": ({}, "passing", "HTTP 299"),
    "status/204": ({}, "passing", "HTTP 204"),
    "status/429": ({}, "warning", "HTTP 429"),
    "status/304": ({}, "critical", "unexpected status: HTTP 304"),
    "status/301": ({}, "critical", "unexpected status: HTTP 301"),
    "status/404": ({}, "critical", "unexpected status: HTTP 404"),
    "status/500": ({}, "critical", "unexpected status: HTTP 500"),
    "status/999": ({}, "critical", "unexpected status: HTTP 999"),
    "status/404?set": ({"passing_status": [404]}, "passing", "HTTP 404"),
    "status/200?set": ({"passing_status": [404]}, "critical", "unexpected status: HTTP 200"),
    "status/203?set": ({"warning_status": "200-205"}, "warning", "HTTP 203"),
    "status/429?set": ({"passing_status": ["2xx", 429]}, "passing", "HTTP 429"),
    "status/503?set": ({"warning_status": ["5xx"]}, "warning", "HTTP 503"),
    # Redirects on the same host.
    "redirect/302?/status/200": ({}, "passing",
                                 r"HTTP 200; redirected to http://127\.0\.0\.1:\d+/status/200"),
    "redirect/302?/status/500": ({}, "critical", "unexpected status: HTTP 500; redirected to .*"),
    "redirect/302?/cut": ({}, "critical", f"{CUT} closed inside the body; redirected to .*/cut"),
    "redirect/302?": ({}, "critical", "unexpected status: HTTP 302"),
    "redirect/302?http://[": ({}, "critical", r"redirect refused: HTTP 302 to http://\[; not a "
                              r"URL \(redirects: same_host\)"),
    "redirect/302?/a": ({"redirects": "none", "passing_status": ["302"]}, "passing", "HTTP 302"),
    "redirect/302?/b": ({"redirects": "none"}, "critical",
                        r"redirect refused: HTTP 302 to /b; no redirect is followed "
                        r"\(redirects: none\)"),
    "trailer-redirect": ({}, "critical", "unexpected status: HTTP 302"),
    "loop/5": ({"body_match": "^at last$"}, "passing", "HTTP 200; redirected to .*/loop/0"),
    "loop/6": ({}, "critical", "redirect refused: HTTP 302 to /loop/0; one redirect too many .*"),
}
FLOODS = ("endless", "bomb", "endless?match", "bomb?match")


@pytest.fixture(scope="module")
def faults(module_lab):
    """(server, Session) of all FAULTS, run at once."""
    server = FaultServer()
    module_lab.defer(server.stop)
    session = probe_all(module_lab, {path: {"url": f"{server.url}/{path}", **keys}
                                     for path, (keys, _, _) in FAULTS.items()})
    return server, session


@pytest.mark.parametrize("path", FAULTS)
def test_fault(faults, path):
    keys, status, pattern = FAULTS[path]
    result = faults[1].results[path]
    expect(result, status, pattern)
    if keys == LATE:
        assert 0.95 <= result.seconds <= 1 + TOLERANCE
    elif path in FLOODS:
        assert result.seconds <= 1 + TOLERANCE


def test_a_fresh_connection_for_each_request(faults):
    server, _ = faults
    numbers = [request.connection for request in server.requests]
    assert len(numbers) == len(set(numbers)) == server.connections
    assert len(numbers) >= len(FAULTS)


def test_no_body_of_a_redirect_is_shown(faults):
    for path, result in faults[1].results.items():
        if path.startswith("redirect/302?http") or path == "redirect/302?/b":
            assert "BODY_OF_REDIRECT" not in result.output


def test_a_flood_is_left_at_the_window(lab):
    server = FaultServer()
    lab.defer(server.stop)
    idle = probe_all(lab, {"a": f"{server.url}/status/200"})
    session = probe_all(lab, {path: f"{server.url}/{path}" for path in ("endless", "bomb")})
    wait_for(lambda: "/endless" in server.ended, 2)
    # Beside the window: what was under way, in the buffers of two sockets.
    assert server.sent["/endless"] < 2 * MIB + 8 * MIB
    assert SANITIZED or session.peak_kib - idle.peak_kib < 16 * 1024
    big = probe_all(lab, {"many-headers": f"{server.url}/many-headers",
                          "long-header": f"{server.url}/long-header"})
    assert SANITIZED or big.peak_kib - idle.peak_kib < 16 * 1024


def test_output_is_the_same_each_time(lab):
    """But for the server's own words, nothing in it changes from run to run."""
    count = [0]

    def hook(_request):
        count[0] += 1
        return Reply(body="same", headers={"Date": f"day {count[0]}"}, delay=0.03 * count[0])
    server = lab.server(hook)
    bad = FaultServer()
    lab.defer(bad.stop)
    checks = {"fine": server.url, "refused": f"http://127.0.0.1:{free_port()}/"}
    checks |= {path: {"url": f"{bad.url}/{path}", "_": {"timeout": "300ms"}}
               for path in ("stall", "cut", "reset", "silent", "no-http", "head-drip")}
    outputs = [{name: result.output for name, result in probe_all(lab, checks).results.items()}
               for _ in range(4)]
    assert all(output == outputs[0] for output in outputs)
    assert outputs[0]["stall"].startswith("timed out after 300ms; HTTP 200, body incomplete")


def test_the_cause_of_an_earlier_failure_is_not_told_again(lab):
    """Handles are used again, and libcurl remembers the last errno of each."""
    bad = FaultServer()
    lab.defer(bad.stop)
    bad.hook = lambda request: bad.do_reset_body(request, "")
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "http": bad.url, "interval": "200ms"}]})
    wait_for(lambda: "lost: Connection reset" in (daemon.check("a")["output"] or ""))
    bad.hook = lambda request: bad.do_bad_chunk(request, "")
    wait_for(lambda: daemon.check("a")["result_line"].endswith("connection was lost"), 3,
             what=lambda: daemon.check("a"))


# The request.

def test_the_request_byte_by_byte(lab):
    server = lab.server()
    host = f"127.0.0.1:{server.port}"
    secret = lab.subfolder("k") / "token"
    secret.write_text("S3CRET-token\n")
    session = probe_all(lab, {
        "get": f"http://{host}/api/%2F?x=%20a",
        "login": f"http://user:p%2Fw@{host}/login",
        "post": {"url": f"http://{host}/post", "method": "POST", "body": '{"a": 1}',
                 "headers": {"Authorization": {"file": str(secret), "prefix": "Bearer "},
                             "Content-Type": "application/json"}},
        "host": {"url": f"http://{host}/host", "headers": {"Host": "web.internal"}},
    })
    assert {result.status for result in session.results.values()} == {"passing"}
    seen = {request.target: request for request in server.requests}
    agent = seen["/api/%2F?x=%20a"].header("User-Agent")
    assert re.fullmatch(r"probity/\d+\.\d+\.\d+", agent)
    usual = [("User-Agent", agent), ("Accept", "*/*")]
    assert seen["/api/%2F?x=%20a"].line == "GET /api/%2F?x=%20a HTTP/1.1"
    assert seen["/api/%2F?x=%20a"].headers == [("Host", host), *usual]
    assert seen["/login"].headers == [
        ("Host", host), ("Authorization", "Basic dXNlcjpwL3c="), *usual]
    assert seen["/post"].line == "POST /post HTTP/1.1"
    assert seen["/post"].body == b'{"a": 1}'
    assert seen["/post"].headers == [
        ("Host", host), *usual, ("Authorization", "Bearer S3CRET-token"),
        ("Content-Type", "application/json"), ("Content-Length", "8")]
    assert sorted(seen["/host"].headers) == sorted([("Host", "web.internal"), *usual])
    assert "S3CRET" not in session.text


def test_a_token_file_is_read_at_each_run(lab):
    server = lab.server()
    secret = lab.subfolder("k") / "token"
    secret.write_text("one\n")
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "interval": "200ms",
         "http": {"url": server.url, "headers": {"X-Key": {"file": str(secret)}}}}]})
    wait_for(lambda: server.requests and server.requests[-1].header("X-Key") == "one")
    secret.write_text("two\n")
    wait_for(lambda: server.requests[-1].header("X-Key") == "two", 2)
    secret.unlink()
    daemon.wait_check("a", 2, status="critical")
    assert "cannot read secret: header X-Key: " in daemon.check("a")["output"]
    asked = len(server.requests)
    holds(lambda: len(server.requests) == asked, 0.5)


def test_proxy_variables_are_ignored(lab):
    server, proxy = lab.server(), lab.server()
    names = ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY")
    session = probe_all(lab, {"a": server.url, "b": {"url": f"{server.url}/b", "redirects": "follow"}},
                        env={name: proxy.url for name in names} | {"no_proxy": "", "NO_PROXY": ""})
    assert {result.status for result in session.results.values()} == {"passing"}
    assert proxy.connections == 0
    assert [request.target for request in server.requests if request.target == "/"]


# Redirects to elsewhere.

CREDENTIALS = {"Authorization": "Bearer S3CRET3", "Cookie": "id=S3CRET3", "X-Key": "S3CRET3",
               "Accept": "text/plain"}
FOREIGN = ("file:///etc/hostname", "gopher://127.0.0.1:{b}/_x", "mailto:x", "ftp://127.0.0.1:{b}/")


@pytest.mark.parametrize("mode", ["none", "same_host", "follow"])
def test_redirects_to_another_port(lab, mode):
    there = lab.server()
    places = {f"{code}": (code, f"{there.url}/secret?token=S3CRET8")
              for code in (301, 302, 303, 307, 308)}
    places |= {f"foreign{n}": (302, place.format(b=there.port)) for n, place in enumerate(FOREIGN)}

    def hook(request):
        code, place = places[request.target.lstrip("/")]
        return Reply(code, f"<a href='{place}'>BODY</a>", {"Location": place})
    here = lab.server(hook)
    session = probe_all(lab, {
        name: {"url": f"http://user:S3CRET1@127.0.0.1:{here.port}/{name}", "redirects": mode,
               "headers": {name: value for name, value in CREDENTIALS.items()
                           if name != "Authorization"}} for name in places})
    assert "S3CRET" not in session.text and "BODY" not in session.text
    for name, (code, _) in places.items():
        result = session.results[name]
        if mode == "follow" and name.isdigit():
            expect(result, "passing", r"HTTP 200; redirected to http://.*/secret\?…")
            continue
        place = rf"http://127\.0\.0\.1:{there.port}/secret\?…" if name.isdigit() else r".*"
        expect(result, "critical",
               rf"redirect refused: HTTP {code} to {place}; .* \(redirects: {mode}\)")
    assert len(there.requests) == (5 if mode == "follow" else 0) == there.connections
    for request in there.requests:
        assert sorted(name for name, _ in request.headers) == ["Accept", "Host", "User-Agent"]
        assert request.header("Accept") == "text/plain"


def test_a_post_is_redirected_by_the_rules(lab):
    def hook(request):
        code = request.target.lstrip("/")
        return Reply(int(code), "", {"Location": f"/to/{code}"}) if code.isdigit() else None
    server = lab.server(hook)
    codes = (301, 302, 303, 307, 308)
    probe_all(lab, {f"{code}": {"url": f"{server.url}/{code}", "method": "POST", "body": "x",
                                "headers": {"X-Key": "k"}} for code in codes})
    seen = {r.target: (r.method, r.body, r.header("X-Key")) for r in server.requests}
    for code in codes:
        assert seen[f"/to/{code}"] == (
            ("POST", b"x", "k") if code >= 307 else ("GET", b"", "k"))


# Connections.

def test_a_server_that_closes_early_disturbs_nobody(lab):
    def linger(connection):
        time.sleep(0.1)
        connection.close()
    server = lab.server(lambda request: Reply(headers={"Content-Length": "0"}, stream=linger))
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "http": server.url, "interval": "200ms"}]})
    wait_for(lambda: len(server.requests) >= 10, 5)
    assert daemon.check("a")["status"] == "passing"
    assert not daemon.log_lines("critical")
    assert server.connections == len(server.requests)


def test_a_dead_listener_is_noticed_though_old_connections_live(lab):
    server = lab.server()
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "http": server.url, "interval": "500ms"}]})
    daemon.wait_check("a", status="passing")
    server.close(drop=False)
    closed = time.monotonic()
    daemon.wait_check("a", status="critical")
    assert time.monotonic() - closed <= 0.7 + TOLERANCE
    assert "Connection refused" in daemon.check("a")["output"]


# Secrets.

def test_nothing_secret_is_said(lab):
    here = lab.server(lambda request: Reply(302, "", {"Location": "/next?token=S3CRET8"})
                      if request.target.startswith("/ask") else Reply(500, "no"))
    closed = f"127.0.0.1:{free_port()}"
    session = probe_all(lab, {
        "closed": {"url": f"http://user:S3CRET1@{closed}/x?token=S3CRET2",
                   "headers": {"Authorization2": "S3CRET3"}},
        "open": {"url": f"http://user:S3CRET1@127.0.0.1:{here.port}/ask?token=S3CRET2",
                 "headers": {"X-Key": "S3CRET3"}},
        "refused": {"url": f"http://user:S3CRET1@127.0.0.1:{here.port}/ask", "redirects": "none"},
    }, env={"UNUSED": "x"})
    assert {result.status for result in session.results.values()} == {"critical"}
    assert "S3CRET" not in session.text
    assert "/next?…" in session.text
    config = lab.subfolder("k") / "bad.yaml"
    config.write_text(f"""consul: off
service: {{id: web-1}}
checks:
  - name: a
    http:
      url: http://user:S3CRET1@{closed}/x?token=S3CRET2
      headers: {{Authorization: S3CRET3, 'X Bad': S3CRET4}}
      metod: S3CRET5
""")
    config.chmod(0o600)
    done = run_probity("validate", "-c", config)
    assert done.returncode == 2 and "metod" in done.stderr
    assert "S3CRET" not in (done.stdout + done.stderr).replace("S3CRET5", "")


def test_debug_log_has_no_secret(lab):
    closed = f"127.0.0.1:{free_port()}"
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "interval": "200ms",
         "http": {"url": f"http://user:S3CRET1@{closed}/x?t=S3CRET2",
                  "headers": {"X-Key": "S3CRET3"}}}]}, arguments=["--log-level", "debug"])
    daemon.wait_check("a", status="critical")
    assert "S3CRET" not in str(daemon.status()) + daemon.log_text()


# What the configuration refuses.

REFUSED = {
    "url: gopher://a/": "http:// or https://",
    "url: http://": "host",
    "{url: 'http://a/', method: get}": "capitals",
    "{url: 'http://a/', method: CONNECT}": "CONNECT",
    "{url: 'http://a/', method: 'G ET'}": "not a method",
    "{url: 'http://a/', method: HEAD, body_match: x}": "HEAD",
    "{url: 'http://a/', method: HEAD, body: x}": "HEAD",
    "{url: 'http://a/', headers: {'X Y': z}}": "name of a header",
    "{url: 'http://a/', headers: {content-length: 5}}": "set by probity",
    "{url: 'http://a/', headers: {X: \"a\\nb\"}}": "line break",
    "{url: 'http://u:p@a/', headers: {authorization: x}}": "who is asking",
    "{url: 'http://a/', passing_status: [20x]}": "write 204, 2xx or 200-299",
    "{url: 'http://a/', passing_status: []}": "names no code",
    "{url: 'http://a/', passing_status: [2xx], warning_status: [203]}": "both",
    "{url: 'https://a/', tls: {server_name: 'a/b'}}": "not a host name",
    "{url: 'https://a/', tls: {ca_file: ca.pem}}": "absolute path",
    "{url: 'http://a/', body_match: '('}": "body_match",
    "{url: 'http://a/', redirects: all}": "same_host",
    "{url: 'http://a/', max_body: 1}": "unit",
    "{}": "url",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused_at_load(lab, text):
    config = lab.subfolder("v") / "bad.yaml"
    body = text if text.startswith("{") else f"{{{text}}}"
    config.write_text(f"consul: off\nservice: {{id: web-1}}\nchecks:\n"
                      f"  - name: a\n    http: {body}\n")
    config.chmod(0o600)
    done = run_probity("validate", "-c", config)
    assert done.returncode == 2, done
    assert re.search(rf"bad\.yaml:5:\d+: error: .*{re.escape(REFUSED[text])}", done.stderr), \
        done.stderr
