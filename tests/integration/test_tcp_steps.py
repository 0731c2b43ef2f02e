# SPDX-License-Identifier: MIT
"""Conversations of the tcp probe: steps, what is used up, TLS from the start and in the middle."""
import re
import socket
import ssl
import time

import pytest

from authority import Authority
from dnsserver import DnsServer
from lab import descriptors, run_probity, wait_for
from net_bench import TcpServer, expect, probe_all, write_config

SECRET = "S3CRET-LOGIN"


def lines_of(connection):
    """The lines that a client sends, without their ends."""
    rest = b""
    while data := connection.recv(512):
        rest += data
        *lines, rest = rest.split(b"\r\n")
        yield from lines


def mail(connection, context=None):
    """A mail server, as far as a probe goes; `seen` of the function has what it heard."""
    connection.sendall(b"220 mx ESMTP\r\n")
    for line in lines_of(connection):
        mail.seen.append(line)
        if line.startswith(b"EHLO"):
            connection.sendall(b"250-mx at your")
            time.sleep(0.05)
            connection.sendall(b" service\r\n250-PIPELINING\r\n250 STARTTLS\r\n")
        elif line == b"STARTTLS" and context:
            connection.sendall(b"220 go ahead\r\n")
            connection = context.wrap_socket(connection, server_side=True)
            mail.sealed.append(connection.version())
            context = None
            for inner in lines_of(connection):
                mail.seen.append(inner)
                connection.sendall(b"221 bye\r\n" if inner == b"QUIT" else b"250 mx\r\n")
                if inner == b"QUIT":
                    connection.unwrap()
                    return
        elif line == b"QUIT":
            connection.sendall(b"221 bye\r\n")
            return
        else:
            connection.sendall(b"500 what\r\n")


mail.seen, mail.sealed = [], []


def both_at_once(connection):
    connection.sendall(b"220 mx\r\n250 ok\r\nrest")
    connection.recv(1)


def no_line_end(connection):
    connection.sendall(b"PONG")
    connection.recv(1)


def longer_word(connection):
    connection.sendall(b"OK")
    time.sleep(0.05)
    connection.sendall(b"AY\n")
    connection.recv(1)


def binary(connection):
    if connection.recv(4) == b"\x00\x01\xfe\xff":
        connection.sendall(b"noise\x00\xff\x10\x80tail")
    connection.recv(1)


def echo(connection):
    while data := connection.recv(512):
        connection.sendall(b"heard " + data)


def hasty(connection):
    """Says all at once, whatever it is asked."""
    connection.sendall(b"220 mx\r\n220 go ahead\r\n")
    connection.recv(100)


def inject(connection):
    """What an attacker would do: an answer in clear behind the one that TLS begins at."""
    connection.sendall(b"220 go ahead\r\n250 injected\r\n")
    connection.recv(1)


@pytest.fixture(scope="module", name="bench")
def _bench(module_lab):
    return Bench(module_lab)


class Bench:
    """Servers by the name of what they play; `sealed`: TLS from the start."""

    def __init__(self, lab):
        self.authority = Authority(lab.subfolder("a"))
        pair = self.authority.issue("DNS:mx.internal", "IP:127.0.0.1", days=40)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        self.secret = lab.subfolder("s") / "login"
        self.secret.write_text(SECRET + "\n")
        self.secret.chmod(0o600)
        plays = {play.__name__: play for play in (
            mail, both_at_once, no_line_end, longer_word, binary, echo, inject, hasty)}
        plays["starttls"] = lambda connection: mail(connection, context)
        plays["sealed"] = lambda connection: echo(context.wrap_socket(connection, server_side=True))
        self.servers = {name: TcpServer(play) for name, play in plays.items()}
        for server in self.servers.values():
            lab.defer(server.stop)

    def at(self, name, *steps, **keys):
        more = {"steps": list(steps)} if steps else {}
        return {"address": self.servers[name].address, **more, **keys}

    def connected(self, name):
        return "connected to " + re.escape(self.servers[name].address)

    @property
    def tls(self):
        return {"ca_file": str(self.authority.file)}


HELLO = [{"expect": "^220 "}, {"send": r"EHLO probity\r\n"}, {"expect": "^250 ", "reject": "^5"}]
UPGRADE = [*HELLO, {"send": r"STARTTLS\r\n"}, {"expect": "^220 "}, {"starttls": True},
           {"send": r"EHLO probity\r\n"}, {"expect": "^250 "}, {"send": r"QUIT\r\n"},
           {"expect": "^221 "}]


@pytest.fixture(scope="module", name="faults")
def _faults(bench):
    """name -> (keys of tcp:, keys of the check, status, output, seconds)."""
    b = bench
    late = (1, 1.3)
    half = {"timeout": "1s"}
    return {
        "talk": (b.at("mail", *HELLO, {"send": r"QUIT\r\n"}), {}, "passing", b.connected("mail"),
                 (0, 1)),
        "talk-to-the-end": (b.at("mail", *HELLO, {"send": r"QUIT\r\n"}, {"expect": "^221 "}), {},
                            "passing", b.connected("mail"), (0, 1)),
        "used-up": (b.at("both_at_once", {"expect": "^220 "}, {"expect": "^220 "}), half,
                    "critical", rf"timed out after 1s; {b.connected('both_at_once')}, step 2 "
                    r"\(expect '\^220 '\) not found\n250 ok\nrest", late),
        "both-at-once": (b.at("both_at_once", {"expect": "^220 "}, {"expect": "^250 "}), {},
                         "passing", b.connected("both_at_once"), (0, 0.3)),
        "reject": (b.at("mail", {"expect": "^220 "}, {"send": r"HELO x\r\n"},
                        {"expect": "^250 ", "reject": "^5"}), {}, "critical",
                   r"assertion failed: step 3 \(expect '\^250 '\): what is rejected came back\n"
                   "500 what", (0, 0.5)),
        "reject-later": (b.at("both_at_once", {"expect": "^220 ", "reject": "^250"}), {},
                         "passing", b.connected("both_at_once"), (0, 0.3)),
        "reject-first": (b.at("both_at_once", {"expect": "^rest", "reject": "^250"}), {},
                         "critical", "assertion failed: step 1 .*", (0, 0.6)),
        "no-line-end": (b.at("no_line_end", {"expect": "^PONG$"}), {}, "passing",
                        b.connected("no_line_end"), (0.2, 0.6)),
        "longer-word": (b.at("longer_word", {"expect": "^OK$"}), half, "critical",
                        r"timed out after 1s; .* not found\nOKAY", late),
        "hex": (b.at("binary", {"send_hex": "00 01 feFF"}, {"expect_hex": "00ff10 80"},
                     {"expect": "^tail"}), {}, "passing", b.connected("binary"), (0, 0.6)),
        "hex-other": (b.at("binary", {"send_hex": "00 01 fe ff"}, {"expect_hex": "00 00"}), half,
                      "critical", r"timed out after 1s; .*step 2 \(expect 00 00\) not found.*",
                      late),
        "file": (b.at("echo", {"send_file": str(b.secret)}, {"expect": f"heard {SECRET}"}), {},
                 "passing", b.connected("echo"), (0, 0.3)),
        "no-file": (b.at("echo", {"send_file": "/nonexistent"}, {"expect": "x"}), {}, "critical",
                    r"cannot read secret: step 1 \(send\): /nonexistent: No such file .*",
                    (0, 0.3)),
        "starttls": (b.at("starttls", *UPGRADE, tls=b.tls), {}, "passing",
                     b.connected("starttls"), (0, 1)),
        "starttls-name": (b.at("starttls", *UPGRADE, tls={**b.tls, "server_name": "other"}), {},
                          "critical",
                          "TLS failed: hostname mismatch: the certificate is not for other",
                          (0, 1)),
        "starttls-system": (b.at("starttls", *UPGRADE), {}, "critical",
                            "TLS failed: unable to get local issuer certificate", (0, 1)),
        "starttls-refused": (b.at("mail", *UPGRADE, tls=b.tls), half, "critical",
                             r"timed out after 1s; .*step 5 \(expect '\^220 '\) not found\n"
                             "500 what", late),
        "injected": (b.at("inject", {"expect": "^220 .*\\R"}, {"starttls": True}, tls=b.tls), {},
                     "critical", "TLS failed: something came in clear .*\n250 injected",
                     (0, 0.5)),
        "hasty": (b.at("hasty", {"expect": "^220 "}, {"send": r"STARTTLS\r\n"},
                       {"expect": "^220 "}, {"starttls": True}, tls=b.tls), {}, "critical",
                  "TLS failed: the answer that TLS begins at came before it was asked for",
                  (0, 0.5)),
        "sealed": (b.at("sealed", send="hi", expect="heard hi", tls=b.tls), {}, "passing",
                   b.connected("sealed"), (0, 0.5)),
        "sealed-name": (b.at("sealed", tls={**b.tls, "server_name": "mx.internal"}), {},
                        "passing", b.connected("sealed"), (0, 0.5)),
        "sealed-only": (b.at("sealed", tls=b.tls), {}, "passing", b.connected("sealed"), (0, 0.5)),
        "sealed-ends": (b.at("sealed", tls={**b.tls, "expires": {"note": "50d"}}), {}, "passing",
                        b.connected("sealed") + r"; certificate CN=lab ends on [\d-]+, within 50d",
                        (0, 0.5)),
        "sealed-critical": (b.at("sealed", tls={**b.tls, "expires": {"critical": "50d"}}), {},
                            "critical", "ends too soon: certificate CN=lab ends on .*", (0, 0.5)),
        "sealed-not": (b.at("mail", tls=b.tls), {}, "critical",
                       r"TLS failed: no handshake; is this a TLS port\?", (0, 0.5)),
        "sealed-silent": (b.at("echo", tls=b.tls, send="x"), half, "critical",
                          r"(timed out after 1s; .*, no TLS handshake|TLS failed: .*)",
                          (0, 1.3)),
    }


@pytest.fixture(scope="module", name="runs")
def _runs(module_lab, faults):
    checks = {name: {"tcp": keys, **more} for name, (keys, more, *_) in faults.items()}
    return [probe_all(module_lab, checks) for _ in range(2)]


def test_each_conversation_has_its_verdict(faults, runs):
    for name, (_, _, status, output, within) in faults.items():
        expect(runs[0][name], status, output, within)
    assert mail.sealed and b"QUIT" in mail.seen


def test_equal_results_have_equal_texts(faults, runs):
    for name in faults:
        assert runs[0][name]["output"] == runs[1][name]["output"], name


def test_verbose_shows_each_step_and_no_secret(bench, lab):
    config = write_config(lab.subfolder("v"), {
        "talk": {"tcp": bench.at("starttls", *UPGRADE, tls=bench.tls)},
        "file": {"tcp": bench.at("echo", {"send_file": str(bench.secret)}, {"expect": "nope"}),
                 "timeout": "400ms"}})
    done = run_probity("probe", "-v", "-c", config, "talk")
    steps = [line.split(None, 3)[3] for line in done.stdout.splitlines() if " step " in line]
    assert steps[0] == "step 1 (expect '^220 '): found in 14 bytes"
    assert steps[1] == "step 2 (send): 14 bytes" and len(steps) == 9
    assert any(" tls " in line and "#" in line for line in done.stdout.splitlines())
    assert any(" certificate " in line for line in done.stdout.splitlines())
    hidden = run_probity("probe", "-v", "-c", config, "file")
    # What the server says is shown; what was sent is not.
    assert f"({SECRET}" not in hidden.stdout and "step 1 (send): 12 bytes" in hidden.stdout


def test_both_families_must_answer(lab):
    dns = DnsServer({"two.test": ["127.0.0.1", "::1"], "four.test": ["127.0.0.1"]})
    lab.defer(dns.stop)
    four = TcpServer(lambda connection: connection.sendall(b"220 four\r\n"))
    lab.defer(four.stop)
    six = socket.create_server(("::1", four.port), family=socket.AF_INET6)
    lab.defer(six.close)
    checks = {"two": {"tcp": {"address": f"two.test:{four.port}", "ip": "both"}},
              "talk": {"tcp": {"address": f"two.test:{four.port}", "ip": "both",
                               "expect": "^220 "}, "timeout": "500ms"},
              "four": {"tcp": {"address": f"four.test:{four.port}", "ip": "both"}}}
    rows = probe_all(lab, checks, resolver={"servers": [dns.address]})
    expect(rows["two"], "passing",
           rf"connected to 127\.0\.0\.1:{four.port} and \[::1\]:{four.port}", (0, 0.6))
    expect(rows["talk"], "critical", rf"timed out after 500ms; connected to \[::1\]:{four.port}, "
           "nothing received", (0.5, 0.8))
    expect(rows["four"], "critical", r"cannot resolve: IPv6: four\.test: .*", (0, 0.6))
    six.close()
    rows = probe_all(lab, {"two": checks["two"]}, resolver={"servers": [dns.address]})
    expect(rows["two"], "critical",
           rf"cannot connect: IPv6: \[::1\]:{four.port} Connection refused", (0, 0.6))


def test_a_thousand_conversations_leave_nothing(bench, lab):
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": f"c{number}", "interval": "100ms",
         "tcp": bench.at("sealed", send="hi", expect="heard hi", tls=bench.tls)}
        for number in range(10)]})
    daemon.wait_check("c9", status="passing")
    before = descriptors(daemon.process.pid)
    wait_for(lambda: sum(daemon.check(f"c{number}")["runs"] for number in range(10)) > 1000, 60)
    assert abs(descriptors(daemon.process.pid) - before) <= 10
    assert all(daemon.check(f"c{number}")["status"] == "passing" for number in range(10))
