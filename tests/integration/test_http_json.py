# SPDX-License-Identifier: MIT
"""Assertions on JSON bodies: what a server answers, in whatever pieces, and what is no answer."""
import gzip
import json

import pytest

from faultserver import FaultServer
from http_bench import expect, probe_all
from lab import Reply

HEALTH = {"status": "ok", "db": {"lag": 4.5, "primary": True}, "nodes": [{"up": 3}, {"up": 0}],
          "version": "2.4.1", "error": None, "note": "x" * 500}
BODY = json.dumps(HEALTH)
FAILED = "assertion failed: HTTP 200, "
DEEP = "[" * 100000
MIB = 1024 * 1024


def in_pieces(sock):
    """The body byte by byte in chunks, as no server would."""
    for byte in BODY.encode():
        sock.sendall(b"1\r\n%c\r\n" % byte)
    sock.sendall(b"0\r\n\r\n")


REPLIES = {
    "/health": Reply(body=BODY),
    "/down": Reply(status=503, body=BODY),
    "/busy": Reply(status=429, body=BODY),
    "/gzip": Reply(body=gzip.compress(BODY.encode()), headers={"Content-Encoding": "gzip"}),
    "/pieces": Reply(headers={"Transfer-Encoding": "chunked"}, stream=in_pieces),
    "/html": Reply(body="<html>It works!</html>"),
    "/empty": Reply(),
    "/half": Reply(body=BODY[:40]),
    "/twice": Reply(body=BODY + BODY),
    "/duplicate": Reply(body='{"status": "ok", "status": "down"}'),
    "/latin": Reply(body=b'{"status": "\xe9"}'),
    "/nan": Reply(body='{"status": NaN}'),
    "/deep": Reply(body=DEEP),
    "/many": Reply(body="[" + "0," * 200000 + "0]"),
    "/large": Reply(body=json.dumps({"status": "ok", "fill": "x" * (MIB - 30)})),
    "/larger": Reply(body=json.dumps({"status": "ok", "fill": "x" * MIB})),
}

# Path -> (assertions, status, first line of the output).
CASES = {
    "/health": ({"/status": "ok", "/db/lag": {"max": 5, "critical": 5}, "/db/primary": True,
                 "/nodes/0/up": 3, "/error": None, "/version": {"match": r"^2\."},
                 "/failed": {"exists": False}}, "passing", "HTTP 200"),
    "/health?warning": ({"/db/lag": {"warning": 4, "critical": 5}}, "warning",
                        FAILED + "/db/lag = 4.5 is outside warning 4"),
    "/health?several": ({"/status": "up", "/nodes/1/up": {"min": 1}, "/db/lag": {"warning": 4}},
                        "critical", FAILED + '/status is "ok", not "up"; /nodes/1/up is 0, below '
                        "min 1; /db/lag = 4.5 is outside warning 4"),
    "/health?missing": ({"/db/lagg": {"max": 5}}, "critical", FAILED + "/db/lagg is not there"),
    "/health?text": ({"/note": "y"}, "critical",
                     FAILED + r'/note is "x+… \[\d+ bytes left out\] …x+", not "y"'),
    "/down": ({"/status": "ok"}, "critical", "unexpected status: HTTP 503"),
    "/busy": ({"/status": "ok"}, "warning", "HTTP 429"),
    "/busy?lag": ({"/db/lag": {"critical": 4}}, "critical",
                  "assertion failed: HTTP 429, /db/lag = 4.5 is outside critical 4"),
    "/gzip": ({"/version": "2.4.1"}, "passing", "HTTP 200"),
    "/pieces": ({"/version": "2.4.1", "/nodes/1/up": 0}, "passing", "HTTP 200"),
    "/html": ({"/status": {"exists": False}}, "critical",
              FAILED + "the body is not JSON: line 1, column 1: .*"),
    "/empty": ({"/status": "ok"}, "critical", FAILED + "the body is not JSON: it is empty"),
    "/half": ({"/status": "ok"}, "critical", FAILED + "the body is not JSON: line 1, .*"),
    "/twice": ({"/status": "ok"}, "critical", FAILED + "the body is not JSON: line 1, .*"),
    "/duplicate": ({"/status": "ok"}, "critical",
                   FAILED + "the body is not JSON: .* duplicate object key .*"),
    "/latin": ({"/status": {"reject": "x"}}, "critical",
               FAILED + "the body is not JSON: .* unable to decode byte 0xe9 .*"),
    "/nan": ({"/status": {"exists": True}}, "critical", FAILED + "the body is not JSON: .*"),
    "/deep": ({"": {"exists": True}}, "critical",
              "cannot decide: HTTP 200, the body has more than 50000 JSON values, or 128 levels"),
    "/many": ({"/0": 0}, "critical",
              "cannot decide: HTTP 200, the body has more than 50000 JSON values, or 128 levels"),
    "/large": ({"/status": "ok"}, "passing", "HTTP 200"),
    "/larger": ({"/status": "ok"}, "critical",
                "cannot decide: HTTP 200, body exceeds match window"),
}


@pytest.fixture(scope="module", name="session")
def run_all(module_lab):
    server = module_lab.server(lambda request: REPLIES[request.path.partition("?")[0]])
    return probe_all(module_lab, {
        path: {"url": f"http://127.0.0.1:{server.port}{path}", "json": case[0],
               "_": {"timeout": "20s", "interval": "1m"}} for path, case in CASES.items()})


@pytest.mark.parametrize("path", CASES)
def test_bodies(session, path):
    expect(session.results[path], *CASES[path][1:])


def test_nothing_that_a_body_holds_takes_much_memory(lab):
    server = lab.server(lambda request: Reply(body=b"[{}" + b",{}" * (MIB // 3 - 1) + b"]"))
    plain = probe_all(lab, {"a": {"url": f"http://127.0.0.1:{server.port}/"}})
    asked = probe_all(lab, {"a": {"url": f"http://127.0.0.1:{server.port}/", "json": {"/0": 1}}})
    expect(asked.results["a"], "critical", "cannot decide: .*")
    assert asked.peak_kib - plain.peak_kib < 8 * 1024


def test_an_endless_body_exceeds_the_window(lab):
    server = FaultServer()
    lab.defer(server.stop)
    session = probe_all(lab, {
        path: {"url": f"{server.url}/{path}", "json": {"/status": {"exists": False}}}
        for path in ("endless", "bomb")})
    for result in session.results.values():
        expect(result, "critical", "cannot decide: HTTP 200, body exceeds match window")


def test_numbers_with_limits_are_values_in_status(lab, agent):
    server = lab.server(lambda request: Reply(body=BODY))
    daemon = lab.probity({
        "consul": {"address": agent.url}, "service": {"id": "web-1"}, "checks": [
            {"name": "lag", "interval": "300ms", "ttl": "3s", "http": {
                "url": f"http://127.0.0.1:{server.port}/",
                "json": {"/db/lag": {"max": 5}, "/nodes/0/up": {"warning": "4:"}, "/error": None,
                         "/nodes/1/up": 0}}}]})
    assert agent.wait_update("web-1:lag").status == "warning"
    assert daemon.check("lag")["values"] == [
        {"name": "/db/lag", "value": 4.5, "unit": ""},
        {"name": "/nodes/0/up", "value": 3.0, "unit": ""}]
