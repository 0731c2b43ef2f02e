# SPDX-License-Identifier: MIT
"""The HTTP probe against real nginx: verified TLS, and what can be wrong with a certificate."""
import os
import re
import shutil
import ssl
import subprocess
import threading

import pytest

from authority import Authority
from dnsserver import DnsServer
from faultserver import FaultServer
from http_bench import expect, probe_all, write_config
from lab import HttpServer, Reply, free_port, run_probity, wait_for
from nginx import Nginx

SERVER = """
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {pair.certificate};
        ssl_certificate_key {pair.key};
        {more}
        location / {{ return 200 'sni=$ssl_server_name host=$http_host $scheme\n'; }}
        location /down {{ return 302 http://127.0.0.1:{plain}/; }}
        location /moved {{ return 301 https://127.0.0.1:{port}/new?token=S3CRET8; }}
    }}
"""
PLAIN = """
    server {{
        listen 127.0.0.1:{port};
        gzip on; gzip_min_length 1; gzip_types text/plain;
        root {root};
        location = / {{ return 200 'ok\n'; }}
        location /up {{ return 302 https://127.0.0.1:{tls}/; }}
    }}
"""


class Bench:
    """nginx with one server per kind of certificate; port[kind]."""

    def __init__(self, lab):
        self.ours, theirs = Authority(lab.subfolder("a")), Authority(lab.subfolder("a"), "Other")
        self.theirs = theirs
        self.client = self.ours.issue("DNS:client")
        self.stranger = theirs.issue("DNS:client")
        self.locked = lab.subfolder("a") / "locked.key"
        subprocess.run(["openssl", "ec", "-aes128", "-passout", "pass:x", "-in", self.client.key,
                        "-out", self.locked], check=True, capture_output=True)
        self.pairs = {
            "good": self.ours.issue("DNS:web.internal", "IP:127.0.0.1"),
            "other": self.ours.issue("DNS:other.internal"),
            "wild": self.ours.issue("DNS:*.web.internal"),
            "expired": self.ours.issue("DNS:web.internal", "IP:127.0.0.1", days=-1),
            "lasting": self.ours.issue("IP:127.0.0.1", days=40),
            "unknown": theirs.issue("DNS:web.internal", "IP:127.0.0.1"),
        }
        kinds = [*self.pairs, "client", "old"]
        self.port = {kind: free_port() for kind in [*kinds, "plain"]}
        more = {"client": f"ssl_verify_client on; ssl_client_certificate {self.ours.file};",
                "old": "ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;"}
        servers = "".join(SERVER.format(
            port=self.port[kind], pair=self.pairs.get(kind, self.pairs["good"]),
            more=more.get(kind, ""), plain=self.port["plain"]) for kind in kinds)
        folder = lab.subfolder("n")
        (folder / "big.txt").write_text("f" * 20000 + "READY=yes")
        servers += PLAIN.format(port=self.port["plain"], tls=self.port["good"], root=folder)
        nginx = Nginx(folder, servers, self.port.values())
        lab.defer(nginx.stop)

    def url(self, kind, path="/", scheme="https"):
        return f"{scheme}://127.0.0.1:{self.port[kind]}{path}"

    def as_client(self, pair, key=None):
        """Asks for a page that only a client with a certificate may see."""
        return self.tls("client", cert_file=str(pair.certificate), key_file=str(key or pair.key))

    def tls(self, kind, path="/", **tls):
        return {"url": self.url(kind, path), "tls": {"ca_file": str(self.ours.file), **tls}}


@pytest.fixture(scope="module")
def bench(module_lab):
    return Bench(module_lab)


NAME = "TLS failed: hostname mismatch: the certificate is not for "
# name -> (what is asked, from the bench; status, first line of the output)
CASES = {
    "good": (lambda b: b.tls("good"), "passing", "HTTP 200"),
    "server_name": (lambda b: b.tls("good", server_name="web.internal"), "passing", "HTTP 200"),
    "wild": (lambda b: b.tls("wild", server_name="x.web.internal"), "passing", "HTTP 200"),
    "wild_deep": (lambda b: b.tls("wild", server_name="x.y.web.internal"), "critical",
                  NAME + r"x\.y\.web\.internal"),
    "wrong_name": (lambda b: b.tls("other"), "critical", NAME + r"127\.0\.0\.1"),
    "wrong_server_name": (lambda b: b.tls("good", server_name="nope.internal"), "critical",
                          NAME + r"nope\.internal"),
    "expired": (lambda b: b.tls("expired"), "critical", "TLS failed: certificate has expired"),
    "unknown": (lambda b: b.tls("unknown"), "critical",
                "TLS failed: unable to get local issuer certificate"),
    "system_authorities": (lambda b: b.url("good"), "critical",
                           "TLS failed: unable to get local issuer certificate"),
    "no_ca_file": (lambda b: {"url": b.url("good"), "tls": {"ca_file": "/nonexistent/ca.pem"}},
                   "critical", "TLS failed: /nonexistent/ca.pem: No such file or directory"),
    "no_pem": (lambda b: {"url": b.url("good"), "tls": {"ca_file": "/etc/passwd"}},
               "critical", "TLS failed: /etc/passwd: holds no certificate in PEM form"),
    "ca_folder": (lambda b: {"url": b.url("good"), "tls": {"ca_file": "/etc/ssl/certs"}},
                  "critical", "TLS failed: /etc/ssl/certs: not a regular file"),
    "tls_to_plain": (lambda b: b.tls("plain"), "critical",
                     r"TLS failed: no handshake; is this a TLS port\?"),
    "plain_to_tls": (lambda b: b.url("good", scheme="http"), "critical",
                     "unexpected status: HTTP 400"),
    "old_protocol": (lambda b: b.tls("old"), "critical",
                     "TLS failed: the server refuses: protocol version"),
    "client_wanted": (lambda b: b.tls("client"), "critical", "unexpected status: HTTP 400"),
    "client": (lambda b: b.as_client(b.client), "passing", "HTTP 200"),
    "client_unknown": (lambda b: b.as_client(b.stranger), "critical",
                       "unexpected status: HTTP 400"),
    "client_other_key": (lambda b: b.as_client(b.client, b.stranger.key), "critical",
                         r"TLS failed: /.*: is not the key of the certificate in /.*"),
    "client_locked": (lambda b: b.as_client(b.client, b.locked), "critical",
                      r"TLS failed: /.*locked\.key: the key has a passphrase, .*"),
    "client_no_key": (lambda b: b.as_client(b.client, "/etc/passwd"), "critical",
                      "TLS failed: /etc/passwd: holds no private key in PEM form"),
    "client_gone": (lambda b: b.as_client(b.client, "/nonexistent.key"), "critical",
                    "TLS failed: /nonexistent.key: No such file or directory"),
    "unverified": (lambda b: b.tls("expired", verify=False), "passing", "HTTP 200"),
    "unverified_name": (lambda b: b.tls("other", verify=False), "passing", "HTTP 200"),
    "unverified_plain": (lambda b: b.tls("plain", verify=False), "critical",
                         r"TLS failed: no handshake; is this a TLS port\?"),
    "ends_late": (lambda b: b.tls("lasting", expires={"note": "30d", "critical": "7d"}),
                  "passing", "HTTP 200"),
    "ends_note": (lambda b: b.tls("lasting", expires={"note": "50d", "critical": "7d"}),
                  "passing", r"HTTP 200; certificate CN=lab ends on \d{4}-\d\d-\d\d, within 50d"),
    "ends_critical": (lambda b: b.tls("lasting", expires={"critical": "50d"}), "critical",
                      r"ends too soon: certificate CN=lab ends on \d{4}-\d\d-\d\d, within 50d"),
    "ends_authority": (lambda b: b.tls("good", expires={"note": "36h"}), "passing",
                       r"HTTP 200; certificate CN=lab ends on .*, within 1d12h"),
    "moved": (lambda b: b.tls("good", "/moved"), "passing",
              r"HTTP 200; redirected to https://127\.0\.0\.1:\d+/new\?…"),
    "moved_renamed": (lambda b: b.tls("good", "/moved", server_name="web.internal"), "passing",
                      r"HTTP 200; redirected to .*"),
    "down": (lambda b: {**b.tls("good", "/down"), "redirects": "follow"}, "critical",
             r"redirect refused: HTTP 302 to http://127\.0\.0\.1:\d+/; never from https to http "
             r"\(redirects: follow\)"),
    "up": (lambda b: {"url": b.url("plain", "/up", "http"), "redirects": "follow",
                      "tls": {"ca_file": str(b.ours.file)}}, "passing",
           r"HTTP 200; redirected to https://127\.0\.0\.1:\d+/"),
    "up_renamed": (lambda b: {"url": b.url("plain", "/up", "http"), "redirects": "follow",
                              "tls": {"ca_file": str(b.ours.file), "server_name": "web.internal"}},
                   "passing", r"HTTP 200; redirected to https://127\.0\.0\.1:\d+/"),
    "up_same_host": (lambda b: b.url("plain", "/up", "http"), "critical",
                     r"redirect refused: HTTP 302 to https://.*another scheme, host or port .*"),
    "plain": (lambda b: {"url": b.url("plain", "/big.txt", "http"), "body_match": "READY=yes$"},
              "passing", "HTTP 200"),
    "gzip": (lambda b: {"url": b.url("plain", "/big.txt", "http"), "body_match": "READY=yes$",
                        "headers": {"Accept-Encoding": "gzip"}}, "passing", "HTTP 200"),
    "gzip_reject": (lambda b: {"url": b.url("plain", "/big.txt", "http"),
                               "body_reject": "READY=yes$", "headers": {"Accept-Encoding": "gzip"}}, "critical",
                    "assertion failed: .*"),
    "head": (lambda b: {"url": b.url("plain", scheme="http"), "method": "HEAD"}, "passing",
             "HTTP 200"),
    "post": (lambda b: {"url": b.url("plain", scheme="http"), "method": "POST", "body": "x" * 9},
             "passing", "HTTP 200"),
}


@pytest.fixture(scope="module")
def results(bench, module_lab):  # pylint: disable=redefined-outer-name
    session = probe_all(module_lab, {name: ask(bench) for name, (ask, _, _) in CASES.items()})
    assert "S3CRET" not in session.text
    return session.results


@pytest.mark.parametrize("name", CASES)
def test_nginx(results, name):  # pylint: disable=redefined-outer-name
    _, status, pattern = CASES[name]
    expect(results[name], status, pattern)


def test_server_name_is_sni_and_leaves_the_host(bench, results):  # pylint: disable=redefined-outer-name
    host = f"127.0.0.1:{bench.port['good']}"
    assert results["good"].output == f"HTTP 200\nsni= host={host} https"
    assert results["server_name"].output == f"HTTP 200\nsni=web.internal host={host} https"
    assert "\nsni=web.internal host=" in results["up_renamed"].output
    assert results["moved_renamed"].output.endswith(f"\nsni=web.internal host={host} https")


def test_a_refused_client_is_told_as_such(bench, lab):  # pylint: disable=redefined-outer-name
    """TLS 1.3: the handshake looks fine to a client that the server is about to refuse."""
    pair = bench.pairs["good"]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(bench.ours.file)
    context.verify_mode = ssl.CERT_REQUIRED
    server = HttpServer(tls=context)
    lab.defer(server.stop)
    session = probe_all(lab, {"a": {"url": server.url,
                                    "tls": {"ca_file": str(bench.ours.file)}}})
    expect(session.results["a"], "critical",
           "TLS failed: the server refuses: certificate required")


def test_a_new_client_certificate_counts_from_the_next_run(bench, lab):  # pylint: disable=redefined-outer-name
    folder = lab.subfolder("a")
    shutil.copy(bench.stranger.certificate, folder / "client.pem")
    shutil.copy(bench.stranger.key, folder / "client.key")
    asked = bench.tls("client", cert_file=str(folder / "client.pem"),
                      key_file=str(folder / "client.key"))
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "interval": "200ms", "http": asked}]})
    daemon.wait_check("a", status="critical")
    # In between the two do not belong together.
    for part, name in ((bench.client.certificate, "client.pem"), (bench.client.key, "client.key")):
        shutil.copy(part, folder / "new")
        os.rename(folder / "new", folder / name)
    daemon.wait_check("a", 2, status="passing")


def test_a_client_certificate_is_not_shown_to_another_host(bench, lab):  # pylint: disable=redefined-outer-name
    away = FaultServer()
    lab.defer(away.stop)
    asked = bench.as_client(bench.client)
    there = f"https://127.0.0.1:{bench.port['client']}/"
    session = probe_all(lab, {
        "here": asked,
        "away": {**asked, "url": f"{away.url}/redirect/302?{there}", "redirects": "follow"}})
    expect(session.results["here"], "passing", "HTTP 200")
    expect(session.results["away"], "critical",
           rf"unexpected status: HTTP 400; redirected to {there}")


def test_verbose_shows_the_chain_in_one_line(bench, lab):  # pylint: disable=redefined-outer-name
    config = write_config(lab.subfolder("v"), {"a": bench.tls("good"),
                                               "b": bench.tls("expired", verify=False)})
    lines = [line for line in run_probity("probe", "-v", "-c", config).stdout.splitlines()
             if " certificate " in line]
    assert len(lines) == 2
    assert re.search(r"CN=lab, TLSv1\.\d \S+, ends \d{4}-\d\d-\d\d$", lines[0]), lines
    assert lines[1].endswith(", not verified"), lines


def test_a_handshake_that_stalls(lab):
    server = lab.server(lambda request: Reply())
    server.close()
    silent = threading.Event()
    server.answer = lambda request: silent.wait(5)
    server._one = lambda *_: silent.wait(5) and False  # pylint: disable=protected-access
    server.open()
    session = probe_all(lab, {"a": {"url": f"https://127.0.0.1:{server.port}/",
                                    "_": {"timeout": "400ms"}}})
    silent.set()
    expect(session.results["a"], "critical",
           r"timed out after 400ms; 127\.0\.0\.1:\d+ connected, no TLS handshake")


def test_a_new_authority_counts_from_the_next_run(bench, lab):  # pylint: disable=redefined-outer-name
    trusted = lab.subfolder("a") / "trusted.pem"
    stranger = Authority(lab.subfolder("a"), "Stranger")
    shutil.copy(stranger.file, trusted)
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": "a", "interval": "200ms",
         "http": {"url": bench.url("good"), "tls": {"ca_file": str(trusted)}}}]})
    daemon.wait_check("a", status="critical")
    shutil.copy(bench.ours.file, f"{trusted}.new")
    os.rename(f"{trusted}.new", trusted)
    daemon.wait_check("a", 2, status="passing")
    trusted.unlink()
    daemon.wait_check("a", 2, status="critical")
    wait_for(lambda: "No such file" in daemon.check("a")["output"], 1)


def test_names_are_sent_and_verified_as_written(bench, lab):  # pylint: disable=redefined-outer-name
    """The first address of the name refuses; the second one answers."""
    dns = DnsServer({"web.internal": ["127.1.1.1", "127.0.0.1"], "nope.internal": ["127.0.0.1"]})
    lab.defer(dns.stop)
    slow = FaultServer()
    lab.defer(slow.stop)
    port, tls = bench.port["good"], {"ca_file": str(bench.ours.file)}
    session = probe_all(lab, {
        "right": {"url": f"https://web.internal:{port}/", "tls": tls},
        "wrong": {"url": f"https://nope.internal:{port}/", "tls": tls},
        "late": {"url": f"http://web.internal:{slow.port}/stall", "_": {"timeout": "400ms"}},
        "there": {"url": f"{slow.url}/redirect/302?https://web.internal:{port}/x?t=S3CRET8",
                  "redirects": "follow", "tls": tls},
        "nowhere": {"url": f"{slow.url}/redirect/302?http://gone.internal/", "redirects": "follow"},
    }, resolver={"servers": [dns.address]})
    results = session.results
    assert results["right"].status == "passing"
    assert f"sni=web.internal host=web.internal:{port} https" in results["right"].output
    expect(results["wrong"], "critical", NAME + r"nope\.internal")
    expect(results["late"], "critical",
           rf"timed out after 400ms; HTTP 200, body incomplete; 127\.1\.1\.1:{slow.port} "
           rf"Connection refused, 127\.0\.0\.1:{slow.port} connected")
    expect(results["there"], "passing",
           rf"HTTP 200; redirected to https://web\.internal:{port}/x\?…")
    expect(results["nowhere"], "critical",
           r"cannot resolve: gone\.internal: .*; redirected to http://gone\.internal/")
    assert "S3CRET" not in session.text


def test_tls_for_plain_http_is_a_warning(lab):
    config = lab.subfolder("v") / "lint.yaml"
    config.write_text("consul: off\nservice: {id: web-1}\nchecks:\n  - name: a\n    http:\n"
                      "      url: http://127.0.0.1:8080/\n      tls: {server_name: web}\n"
                      "      passing_status: [2xx, 302]\n")
    config.chmod(0o600)
    done = run_probity("validate", "-c", config)
    assert done.returncode == 0, done
    assert "lint.yaml:7:" in done.stderr and "not https" in done.stderr
    assert "lint.yaml:8:" in done.stderr and "redirects: none" in done.stderr
    assert run_probity("validate", "--strict", "-c", config).returncode != 0
