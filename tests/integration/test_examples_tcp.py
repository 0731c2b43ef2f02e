# SPDX-License-Identifier: MIT
"""The examples for mail, cache, queue and SSH servers against the real ones, well and ill."""
import os
import re
import signal
import time
from pathlib import Path

import pytest

from authority import Authority
from lab import run_probity, strict_json
from mail_servers import Dovecot, Exim, Memcached, RabbitMq, Sshd

EXAMPLES = Path(__file__).resolve().parents[2] / "config" / "examples"
SYSTEM = "/etc/ssl/certs/ca-certificates.crt"
# example -> (server, the port that the example names)
KINDS = {"memcached": (Memcached, 11211), "ssh": (Sshd, 22), "imap": (Dovecot, 993),
         "smtp": (Exim, 25), "amqp": (RabbitMq, 5672)}


class Bench:
    """All servers; probe() runs an example against the server of the same or another kind."""

    def __init__(self, lab):
        self.lab = lab
        os.chmod(lab.folder, 0o755)
        self.authority = Authority(lab.subfolder("a"))
        pair = self.authority.issue("DNS:mx.example.org", "DNS:imap.example.org", days=40)
        self.servers = {}
        # The slowest first.
        for kind in reversed(KINDS):
            self.servers[kind] = KINDS[kind][0](lab.subfolder("s"), pair)
            lab.defer(self.servers[kind].stop)

    def probe(self, kind, at=None, authority=None, timeout=None):
        text = (EXAMPLES / f"{kind}.yaml").read_text(encoding="utf-8")
        port = self.servers[at or kind].port
        text, count = re.subn(rf"127\.0\.0\.1:{KINDS[kind][1]}\b", f"127.0.0.1:{port}", text)
        assert count == 1
        text = text.replace(SYSTEM, str(authority or self.authority.file))
        if timeout:
            text, count = re.subn(r"timeout: \w+", f"timeout: {timeout}", text)
            assert count == 1
        path = self.lab.subfolder("c") / f"{kind}.yaml"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        done = run_probity("probe", "-c", path, "--json")
        row, = strict_json(done.stdout.encode())
        return row


@pytest.fixture(scope="module", name="bench")
def _bench(module_lab):
    return Bench(module_lab)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_well_passes(bench, kind):
    before = len(bench.servers[kind].log)
    rows = [bench.probe(kind) for _ in range(3)]
    assert [row["status"] for row in rows] == ["passing"] * 3, rows
    assert len({row["output"] for row in rows}) == 1
    time.sleep(0.3)
    log = bench.servers[kind].log[before:]
    # What each of them says of a session that was broken off or not understood.
    assert not re.search(r"] lost|unexpected|abrupt|error|invalid|bad_header|handshake_", log,
                         re.I), log


def test_smtp_sessions_end_with_quit(bench):
    before = bench.servers["smtp"].log.count("closed by QUIT")
    bench.probe("smtp")
    assert bench.servers["smtp"].log.count("closed by QUIT") == before + 1


def test_the_authority_of_the_system_does_not_know_the_server(bench):
    for kind in ("smtp", "imap"):
        row = bench.probe(kind, authority=SYSTEM)
        assert row["status"] == "critical", row
        assert row["output"].startswith("TLS failed: unable to get local issuer certificate"), row


@pytest.mark.parametrize("kind, at, pattern", [
    ("memcached", "ssh", r"timed out after 500ms; .*|assertion failed: .*|answer cut short: .*"),
    ("ssh", "memcached", "timed out after 500ms; .*nothing received"),
    ("smtp", "ssh", r"timed out after 500ms; .*step 1 .*not found\nSSH-2.0-.*"),
    ("imap", "smtp", r"TLS failed: no handshake; is this a TLS port\?"),
    ("amqp", "ssh", r".*SSH-2.0-.*"),
    ("smtp", "amqp", "timed out after 500ms; .*nothing received"),
])
def test_another_protocol_on_the_port(bench, kind, at, pattern):
    row = bench.probe(kind, at=at, timeout="500ms")
    assert row["status"] == "critical", row
    assert re.match(pattern, row["output"], re.S), row


@pytest.mark.parametrize("kind", ["memcached", "smtp"])
def test_a_frozen_server_is_critical_at_the_deadline(bench, kind):
    """Its port still takes connections; only the answer does not come."""
    server = bench.servers[kind]
    server.signal(signal.SIGSTOP)
    try:
        row = bench.probe(kind, timeout="500ms")
    finally:
        server.signal(signal.SIGCONT)
    assert row["status"] == "critical", row
    assert row["output"].startswith("timed out after 500ms; connected to 127.0.0.1:"), row
    assert row["output"].endswith(", nothing received"), row


def test_a_server_that_has_ended_is_refused(bench):
    bench.servers["memcached"].stop()
    row = bench.probe("memcached")
    assert row["status"] == "critical", row
    assert row["output"].startswith("cannot connect: 127.0.0.1:"), row
