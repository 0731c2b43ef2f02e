# SPDX-License-Identifier: MIT
"""Names: a silent server delays nobody, dead addresses hide no live one, failures are named."""
import re
import signal
import time

import pytest

from dnsserver import AAAA, NXDOMAIN, SERVFAIL, SILENCE, A, DnsServer
from lab import TOLERANCE, free_port, run_probity, threads, wait_for
from net_bench import DeafListener, TcpServer, expect, probe_all, write_config

NAMES = {
    "second.test": ["127.0.0.2", "127.0.0.1"],
    "six.test": ["::1", "127.0.0.1"],
    "deaf.test": ["127.0.0.3", "127.0.0.1"],
    "dead.test": ["127.0.0.2", "127.0.0.4"],
    "many.test": ["127.0.0.1"],
    "none.test": [],
    "fail.test": SERVFAIL,
    "nx.test": NXDOMAIN,
    "hang.test": SILENCE,
}


@pytest.fixture(name="dns")
def _dns(lab):
    server = DnsServer(NAMES)
    lab.defer(server.stop)
    return server


def resolver(dns):
    return {"servers": [dns.address], "timeout": "300ms", "tries": 3}


def both(name, target, **keys):
    """The same target over http and over tcp."""
    return {f"{name}-http": {"http": f"http://{target}/", **keys},
            f"{name}-tcp": {"tcp": target, **keys}}


def test_addresses_and_failures(lab, dns):
    server = lab.server()
    deaf = DeafListener("127.0.0.3", server.port)
    lab.defer(deaf.stop)
    port = server.port
    rows = probe_all(lab, {
        **both("second", f"second.test:{port}"), **both("six", f"six.test:{port}"),
        **both("deaf", f"deaf.test:{port}"), **both("dead", f"dead.test:{port}"),
        **both("none", f"none.test:{port}"), **both("fail", f"fail.test:{port}"),
        **both("nx", f"nx.test:{port}"), **both("localhost", f"localhost:{port}"),
        **both("hang", f"hang.test:{port}", timeout="1s"),
        "v6": {"tcp": {"address": f"second.test:{port}", "ip": "v6"}},
        "all-deaf": {"tcp": f"127.0.0.3:{port}", "timeout": "1s"},
    }, resolver=resolver(dns))
    refused = "cannot connect: " + ", ".join(
        rf"127\.0\.0\.{last}:{port} Connection refused" for last in (2, 4))
    for kind, fine in (("tcp", rf"connected to 127\.0\.0\.1:{port}"), ("http", "HTTP 200.*")):
        for name, longest in (("second", 0.5), ("six", 0.5), ("deaf", 3), ("localhost", 0.5)):
            expect(rows[f"{name}-{kind}"], "passing", fine, (0, longest))
        expect(rows[f"dead-{kind}"], "critical", refused, (0, 0.5))
        expect(rows[f"none-{kind}"], "critical",
               "cannot resolve: none.test: the name has no such address", (0, 0.5))
        expect(rows[f"fail-{kind}"], "critical",
               "cannot resolve: fail.test: the name servers fail or cannot be reached", (0, 0.5))
        expect(rows[f"nx-{kind}"], "critical", "cannot resolve: nx.test: no such name", (0, 0.5))
        expect(rows[f"hang-{kind}"], "critical", "timed out after 1s; looking up hang.test",
               (1.0, 1.3))
    expect(rows["v6"], "critical", "cannot resolve: second.test: the name has no such address",
           (0, 0.5))
    expect(rows["all-deaf"], "critical",
           rf"timed out after 1s; 127\.0\.0\.3:{port} no answer", (1.0, 1.3))
    # Both probes of a name asked together.
    assert sorted(dns.asked("second.test")) == [A, AAAA, AAAA]


def test_equal_lookups_are_one_question(lab, dns):
    server = TcpServer(lambda connection: connection.recv(1))
    lab.defer(server.stop)
    dns.ttl = 60
    rows = probe_all(lab, {f"c{i}": {"tcp": f"many.test:{server.port}"} for i in range(20)},
                     resolver=resolver(dns))
    assert {row["status"] for row in rows.values()} == {"passing"}
    assert sorted(dns.asked("many.test")) == [A, AAAA]


def test_a_name_kept_for_its_ttl_moves_after_it(lab, dns, agent):
    """The address changes under a running daemon: the old one counts for the TTL, no longer."""
    server = lab.server()
    dns.ttl = 2
    dns.names["moving.test"] = ["127.0.0.1"]
    daemon = lab.probity({
        "consul": agent.url, "service": {"id": "web-1"}, "resolver": resolver(dns),
        "checks": [{"name": "moving", "tcp": f"moving.test:{server.port}", "interval": "200ms"}]})
    daemon.wait_check("moving", status="passing")
    dns.names["moving.test"] = ["127.0.0.5"]
    daemon.wait_check("moving", status="critical")
    assert 2 <= len(dns.asked("moving.test")) <= 6, dns.queries


def test_a_silent_server_delays_nobody(lab, dns, agent):
    port = free_port()
    hanging = both("hang", f"hang.test:{port}", timeout="1s", interval="1s")
    hanging["hang-redis"] = {"redis": f"hang.test:{port}", "timeout": "1s", "interval": "1s"}
    daemon = lab.probity({
        "consul": agent.url, "service": {"id": "web-1"}, "resolver": resolver(dns),
        "checks": [{"name": name, **keys} for name, keys in hanging.items()] +
                  [{"name": "true", "script": ["/bin/true"], "interval": "1s", "ttl": "3s"}]})
    for name in hanging:
        row = daemon.wait_check(name, status="critical")
        assert row["output"] == "timed out after 1s; looking up hang.test", row
    # libcurl's and glibc's lookups block, or run in threads of their own.
    lines = []
    started = time.monotonic()
    while time.monotonic() - started < 3.5:
        lines.append(threads(daemon.pid))
        time.sleep(0.05)
    assert set(lines) == {1}
    beats = [update.at for update in agent.updates("web-1:true")]
    gaps = [after - before for before, after in zip(beats[1:], beats[2:])]
    assert gaps and all(1 - TOLERANCE <= gap <= 1 + TOLERANCE for gap in gaps), gaps
    assert dns.asked("hang.test")
    told = time.monotonic()
    daemon.signal(signal.SIGTERM)
    wait_for(lambda: not daemon.running, 2, what="the end of the daemon")
    assert time.monotonic() - told < 2


@pytest.mark.parametrize("server", ["dns.test", "127.0.0.1:0", "127.0.0.1:65536", "[::1", "127.1"])
def test_a_server_that_is_no_address_is_an_error(lab, server):
    config = write_config(lab.subfolder("n"), {"port": {"tcp": "127.0.0.1:25"}},
                          resolver={"servers": ["127.0.0.1", server]})
    line = next(number for number, text in enumerate(config.read_text().split("\n"), 1)
                if f'"{server}"' in text)
    done = run_probity("validate", "-c", config)
    assert done.returncode == 2, done.stderr
    assert re.search(rf"net\.yaml:{line}:\d+: error: .*not the address of a name server",
                     done.stderr), done.stderr
