# SPDX-License-Identifier: MIT
"""The redis probe against real servers: logins, replies, roles, Sentinel, cluster, TLS, wrong ports."""
import re
import socket
import ssl

import pytest

from authority import Authority
from dnsserver import SILENCE, DnsServer
from lab import SANITIZED, descriptors, free_port, memory_kib, run_probity, wait_for
from net_bench import DeafListener, TcpServer, expect, probe_all, write_config
from nginx import Nginx
from redis_server import Cluster, Redis, sentinel_config

SECRET = "S3CRET-redis"
MASTER = "main.shard"


def echo(connection):
    """Our own words come back: a well-formed array, with the password in it."""
    while data := connection.recv(512):
        connection.sendall(data)


def tls_echo(context):
    return lambda connection: echo(context.wrap_socket(connection, server_side=True))


def banner(connection):
    connection.sendall(b"220 mx ESMTP\r\n")
    connection.recv(512)


def silent(connection):
    while connection.recv(512):
        pass


def says(reply):
    """Answers the first bytes with this and waits for the other side to close."""
    def play(connection):
        connection.recv(512)
        connection.sendall(reply)
        silent(connection)
    return play


class Bench:
    def __init__(self, lab):
        self.lab = lab
        self.authority = Authority(lab.subfolder("a"))
        self.pair = self.authority.issue("DNS:cache.internal", "IP:127.0.0.1", days=40)
        self.password = lab.subfolder("s") / "redis"
        self.password.write_text(SECRET + "\n")
        self.password.chmod(0o600)
        self.open = self.redis()
        self.closed = self.redis("--requirepass", SECRET, login=(SECRET,))
        self.closed.ask("ACL", "SETUSER", "probe", "on", f">{SECRET}", "~probe:*", "+ping",
                        "+info", "+get", "+select")
        self.closed.ask("SET", "probe:ready", "yes")
        self.closed.ask("RPUSH", "list", "one", "two words", "three")
        self.closed.ask("SET", "number", "42")
        self.replica = self.redis(
            "--replicaof", f"127.0.0.1 {self.closed.port}", "--masterauth", SECRET)
        self.tls = self.redis(pair=self.pair, authority=self.authority)
        self.renamed = self.redis("--rename-command", "AUTH", "")
        # The second one sees a master of its own, and would need another Sentinel.
        self.sentinels = [self.sentinel(self.open, 1), self.sentinel(self.renamed, 2)]
        self.cluster = Cluster(lab)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pair.certificate, self.pair.key)
        self.plays = {name: self.play(play) for name, play in {
            "echo": echo, "banner": banner, "silent": silent, "tls": tls_echo(context),
            "deep": says(b"*1\r\n" * 20), "wide": says(b"*2147483647\r\n"),
            "long": says(b"$1000000000\r\n" + b"x" * 200000), "half": says(b"$4\r\nPO"),
            "pong": says(b"$4\r\nPONG\r\n"), "end": lambda connection: connection.recv(512),
        }.items()}
        self.dead = free_port()
        self.http = free_port()
        nginx = Nginx(lab.subfolder("n"), f"server {{ listen 127.0.0.1:{self.http}; }}", [self.http])
        lab.defer(nginx.stop)
        wait_for(lambda: self.replica.info("replication")["master_link_status"] == "up", 10)

    def redis(self, *options, **more):
        server = Redis(self.lab.subfolder("r"), *options, **more)
        self.lab.defer(server.stop)
        return server

    def sentinel(self, master, quorum):
        return self.redis(sentinel=sentinel_config(MASTER, master, quorum))

    def play(self, play):
        server = TcpServer(play)
        self.lab.defer(server.stop)
        return server

    @property
    def servers(self):
        return [self.open, self.closed, self.replica, self.tls, self.renamed, *self.sentinels,
                *self.cluster.nodes]

    @property
    def login(self):
        return {"password": {"file": str(self.password)}}

    @property
    def ca(self):
        return {"ca_file": str(self.authority.file)}


@pytest.fixture(scope="module", name="bench")
def _bench(module_lab):
    return Bench(module_lab)


def well(bench):
    """name -> (keys of redis:, what the output is behind the address)."""
    b = bench
    closed = {"address": b.closed.address, **b.login}
    return {
        "ping": (b.open.address, "PONG"),
        "ping-written": ({"address": b.open.address, "command": ["ping"]}, "PONG"),
        "ping-word": ({"address": b.open.address, "command": ["PING", "hello"],
                       "expect": "^hello$"}, "PING as expected"),
        "socket": ({"address": f"unix://{b.open.socket}"}, "PONG"),
        "password": (closed, "PONG"),
        "user": ({**closed, "user": "probe", "command": ["GET", "probe:ready"],
                  "expect": "^yes$"}, "GET as expected"),
        "db": ({**closed, "db": 3, "command": ["DBSIZE"], "expect": "^0$"}, "DBSIZE as expected"),
        "list": ({**closed, "command": ["LRANGE", "list", "0", "-1"],
                  "expect": r"\Aone\ntwo words\nthree\z", "reject": "four"}, "LRANGE as expected"),
        "number": ({**closed, "command": ["LLEN", "list"], "value": {"critical": "3:"}},
                   "LLEN as expected"),
        "number-text": ({**closed, "command": ["GET", "number"], "value": {"warning": "40:50"}},
                        "GET as expected"),
        "nested": ({"address": b.cluster.nodes[0].address, "command": ["CLUSTER", "SLOTS"],
                    "expect": r"^16383\n127\.0\.0\.1\n\d+\n"}, "CLUSTER as expected"),
        "master": ({**closed, "role": "master"}, "master; PONG"),
        "replica": ({"address": b.replica.address, "role": "replica", "max_lag": "15s"},
                    f"replica of {b.closed.address}; PONG"),
        "no-lag": ({**closed, "max_lag": "1s"}, "master; PONG"),
        "tls": ({"address": b.tls.address, "tls": b.ca}, "PONG"),
        "tls-name": ({"address": b.tls.address, "tls": {**b.ca, "server_name": "cache.internal"},
                      "role": "master"}, "master; PONG"),
        "tls-note": ({"address": b.tls.address, "tls": {**b.ca, "expires": {"note": "50d"}}},
                     r"PONG; certificate CN=Lab CA ends on [\d-]+, within 50d"),
        "sentinel": ({"address": b.sentinels[0].address, "sentinel": MASTER},
                     f"master {MASTER} is {b.open.address}; quorum reachable; PONG"),
        "cluster": ({"address": b.cluster.nodes[1].address, "cluster": "ok"}, "cluster ok; PONG"),
    }


def ill(bench):
    """name -> (keys of redis:, output, seconds)."""
    b = bench
    soon, late = (0, 1), (0.5, 1.1)
    closed = {"address": b.closed.address, **b.login}
    wrong = "WRONGPASS invalid username-password pair or user is disabled."
    silent_peer = re.escape(b.plays["silent"].address)

    def played(name):
        return {"address": b.plays[name].address}

    return {
        "no-password": (b.closed.address,
                        "refused by the server: PING: NOAUTH Authentication required.", soon),
        "wrong-password": ({**closed, "password": "S3CRET-wrong"},
                           f"cannot log in: AUTH: {wrong}", soon),
        "wrong-user": ({**closed, "user": "nobody"}, f"cannot log in: AUTH: {wrong}", soon),
        "unasked-password": ({"address": b.open.address, **b.login},
                             "cannot log in: AUTH: ERR AUTH <password> called without .*",
                             soon),
        "no-password-file": ({"address": b.open.address, "password": {"file": "/nonexistent"}},
                             "cannot read secret: /nonexistent: No such file or directory", soon),
        "renamed": ({"address": b.renamed.address, **b.login},
                    "cannot log in: AUTH: ERR unknown command 'AUTH'", soon),
        "not-allowed": ({**closed, "user": "probe", "command": ["SET", "probe:x", "1"],
                         "expect": "OK"},
                        "refused by the server: SET: NOPERM .* no permissions to run the 'set' .*",
                        soon),
        "other-key": ({**closed, "user": "probe", "command": ["GET", "x"], "expect": "OK"},
                      "refused by the server: GET: NOPERM .*", soon),
        "no-such-db": ({**closed, "db": 99},
                       "refused by the server: SELECT: ERR DB index is out of range", soon),
        "nil": ({**closed, "command": ["GET", "nothing"], "expect": "^"},
                "assertion failed: GET: the reply is nil", soon),
        "other-text": ({**closed, "command": ["LRANGE", "list", "0", "1"], "expect": "^three$"},
                       r"assertion failed: LRANGE: the reply does not match '\^three\$'\n"
                       "one\ntwo words", soon),
        "rejected": ({**closed, "command": ["GET", "number"], "reject": "4"},
                     "assertion failed: GET: the reply matches what is rejected, '4'\n42", soon),
        "no-number": ({**closed, "command": ["GET", "probe:ready"], "value": {"critical": "3"}},
                      "assertion failed: GET: the reply is no number\nyes", soon),
        "too-much": ({**closed, "command": ["LLEN", "list"], "value": {"critical": "2"}},
                     "assertion failed: LLEN = 3 is outside critical 2", soon),
        "readonly": ({"address": b.replica.address, "command": ["SET", "x", "1"], "expect": "OK"},
                     "refused by the server: SET: READONLY You can't write .*", soon),
        "not-master": ({"address": b.replica.address, "role": "master"},
                       rf"assertion failed: role is replica \(of {b.closed.address}\), not master",
                       soon),
        "not-replica": ({"address": b.open.address, "role": "replica"},
                        "assertion failed: role is master, not replica", soon),
        "no-cluster": ({"address": b.open.address, "cluster": "ok"},
                       "refused by the server: CLUSTER INFO: ERR This instance has cluster "
                       "support disabled", soon),
        "moved": ({"address": b.cluster.nodes[0].address, "command": ["GET", "foo"],
                   "expect": "x"}, r"refused by the server: GET: MOVED 12182 127\.0\.0\.1:\d+",
                  soon),
        "unknown-master": ({"address": b.sentinels[0].address, "sentinel": "other"},
                           "refused by the server: SENTINEL MASTER: ERR No such master .*", soon),
        "no-quorum": ({"address": b.sentinels[1].address, "sentinel": MASTER},
                      "refused by the server: SENTINEL CKQUORUM: NOQUORUM 1 usable Sentinels.*",
                      soon),
        "no-sentinel": ({"address": b.open.address, "sentinel": MASTER},
                        "refused by the server: SENTINEL MASTER: ERR unknown command 'SENTINEL'",
                        soon),
        "role-of-sentinel": ({"address": b.sentinels[0].address, "role": "master"},
                             "protocol error: INFO replication: the reply has no role; .*", soon),
        "tls-other-name": ({"address": b.tls.address, "tls": {**b.ca, "server_name": "other"}},
                           "TLS failed: hostname mismatch: the certificate is not for other", soon),
        "tls-system": ({"address": b.tls.address, "tls": {}},
                       "TLS failed: self-signed certificate in certificate chain", soon),
        "tls-ends": ({"address": b.tls.address, "tls": {**b.ca, "expires": {"critical": "50d"}}},
                     "ends too soon: certificate CN=Lab CA ends on .*", soon),
        "clear-to-tls": (b.tls.address, "answer cut short: PING: Connection reset by peer; is this "
                         r"a TLS port\?", soon),
        # Redis waits for the end of a line, which may or may not be among the random bytes.
        "tls-to-clear": ({"address": b.open.address, "tls": b.ca},
                         r"(timed out after 500ms; connected to \S+, no TLS handshake|"
                         r"TLS failed: no handshake; is this a TLS port\?)", (0, 0.8)),
        "http": (f"127.0.0.1:{b.http}", "protocol error: PING: no reply begins with 'H'; is "
                 r"this an HTTP port\?", soon),
        "banner": (played("banner"), "protocol error: PING: no reply begins with '2'", soon),
        "closed-port": (f"127.0.0.1:{b.dead}",
                        rf"cannot connect: 127\.0\.0\.1:{b.dead} Connection refused", soon),
        "no-socket": ("unix:///nonexistent", "cannot connect: /nonexistent No such file .*", soon),
        "silent": (played("silent"), f"timed out after 500ms; connected to {silent_peer}, no reply "
                   "to PING", late),
        "half": (played("half"), "timed out after 500ms; .*, half a reply to PING", late),
        "end": (played("end"), "answer cut short: PING: connection closed before a reply", soon),
        "bulk-pong": (played("pong"), "assertion failed: PING: the reply is not PONG\nPONG", soon),
        "deep": (played("deep"), "protocol error: PING: No support for nested multi bulk replies "
                 "with depth > 7", soon),
        "wide": (played("wide"), "cannot decide: PING: the reply is over 128 KiB or 16384 elements "
                 "long", soon),
        "long": (played("long"), "cannot decide: PING: the reply is over 128 KiB or .*", soon),
        "echo": ({**played("echo"), **b.login}, "protocol error: AUTH: the reply is not OK", soon),
        "echo-ping": (played("echo"), "assertion failed: PING: the reply is not PONG\nPING", soon),
    }


@pytest.fixture(scope="module", name="runs")
def _runs(module_lab, bench):
    """Two runs of all checks, and how many sessions each server had before and has had since."""
    checks = {f"w-{name}": {"redis": keys} for name, (keys, _) in well(bench).items()}
    # Only those that wait for nothing need a short deadline; the others would meet it by chance.
    checks.update({f"i-{name}": {"redis": keys, "timeout": "500ms" if "500ms" in output else "3s"}
                   for name, (keys, output, _) in ill(bench).items()})
    return [probe_all(module_lab, checks) for _ in range(2)]


def test_what_is_well_passes(bench, runs):
    for name, (keys, output) in well(bench).items():
        place = keys if isinstance(keys, str) else keys["address"]
        expect(runs[0][f"w-{name}"], "passing",
               re.escape(place.removeprefix("unix://")) + ": " + output, (0, 1))


def test_each_fault_is_named(bench, runs):
    for name, (_, output, within) in ill(bench).items():
        expect(runs[0][f"i-{name}"], "critical", output, within)


def test_equal_results_have_equal_texts(runs):
    for name, row in runs[0].items():
        assert name == "i-tls-to-clear" or row["output"] == runs[1][name]["output"], name


def test_a_number_has_limits_and_is_a_value(bench, lab):
    keys = {"address": bench.closed.address, **bench.login, "command": ["LLEN", "list"]}
    rows = probe_all(lab, {
        "warning": {"redis": {**keys, "value": {"warning": "5:", "critical": "1:"}}},
        "lag": {"redis": {"address": bench.replica.address, "max_lag": {"note": "1h"}}}})
    expect(rows["warning"], "warning", "assertion failed: LLEN = 3 is outside warning 5:")
    assert rows["warning"]["values"] == [{"name": "LLEN", "value": 3, "unit": ""}]
    lag, = rows["lag"]["values"]
    assert lag["name"] == "lag" and lag["unit"] == "s" and 0 <= lag["value"] < 60


def test_sessions_end_in_order(bench, runs):
    """Nobody is left, nobody was turned away, and servers that were asked nothing wrong saw no error."""
    assert runs
    for server in bench.servers:
        wait_for(lambda server=server: not server.clients(), 5,
                 what=lambda server=server: server.clients())
        assert server.info("stats")["rejected_connections"] == "0"
    for server in (bench.tls, bench.cluster.nodes[1]):
        assert server.info("stats")["total_error_replies"] == "0"
    # Each session says QUIT, whatever came of it, but for those that spoke no Redis at all.
    before = quits(bench.closed)
    checks = {name: {"redis": keys} for name, keys in {
        "right": {"address": bench.closed.address, **bench.login},
        "wrong": {"address": bench.closed.address, "password": "S3CRET-wrong"},
        "none": bench.closed.address,
        "role": {"address": bench.closed.address, **bench.login, "role": "replica"}}.items()}
    probe_all(bench.lab, checks)
    wait_for(lambda: not bench.closed.clients(), 5)
    assert quits(bench.closed) - before == 4


def quits(server):
    row = server.info("commandstats").get("cmdstat_quit", "calls=0,")
    rejected = re.search(r"rejected_calls=(\d+)", row)
    return int(re.match(r"calls=(\d+)", row).group(1)) + int(rejected.group(1) if rejected else 0)


def test_verbose_shows_each_step(bench, lab):
    config = write_config(lab.subfolder("v"), {"all": {"redis": {
        "address": bench.tls.address, "tls": bench.ca, "role": "master", "db": 1,
        "command": ["SET", "S3CRET-key", "S3CRET-value"], "expect": "^OK$"}}})
    done = run_probity("probe", "-v", "-c", config)
    shown = [line.split(None, 3)[3] for line in done.stdout.splitlines() if " step " in line]
    assert shown == ["SELECT: passing", "INFO replication: passing", "SET: passing"]
    for phase in ("connect", "tls", "send", "receive"):
        assert re.search(rf" {phase} .*#", done.stdout), done.stdout
    assert "S3CRET" not in done.stdout + done.stderr


def script(*replies):
    """A server that answers each command with its reply, in pieces of `size` bytes."""
    def play(connection, size):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for reply in replies:
            connection.recv(4096)
            for at in range(0, len(reply), size):
                connection.sendall(reply[at:at + size])
        silent(connection)
    return play


REPLICATION = (b"role:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\n"
               b"master_link_status:up\r\nmaster_last_io_seconds_ago:7\r\n")
INFO = b"$%d\r\n%s\r\n" % (len(REPLICATION), REPLICATION)
SPLIT = {
    # name -> (replies, keys of redis:, status, output behind the address)
    "fine": ((b"+OK\r\n", b"+OK\r\n", INFO, b"*3\r\n:1\r\n$5\r\na\r\nb\xff\r\n*2\r\n$-1\r\n+x\r\n+OK\r\n"),
             {"password": "%%%", "db": 1, "max_lag": {"note": "5s"}, "command": ["LRANGE", "x"],
              "expect": r"\A1\na\r\nb.\n\nx\z"}, "passing",
             r"\S+: replica of 10\.0\.0\.1:6379, last exchange with it more than 5s ago; LRANGE .*"),
    "error": ((b"+OK\r\n", b"*2\r\n+x\r\n*1\r\n-ERR inside\r\n"),
              {"password": "%%%", "command": ["EXISTS", "x"], "expect": "x"}, "critical",
              "refused by the server: EXISTS: ERR inside"),
    "nonsense": ((b"HTTP/1.1 400 Bad Request\r\n\r\n",), {}, "critical",
                 r"protocol error: PING: no reply begins with 'H'; is this an HTTP port\?"),
    "bad-length": ((b"$-5\r\nxxxx\r\n",), {}, "critical",
                   "protocol error: PING: Bulk string length out of range"),
    "bad-count": ((b"*-2\r\nxxxx\r\n",), {}, "critical",
                  "protocol error: PING: Multi-bulk length out of range"),
    "bad-integer": ((b":12x\r\nxxxx\r\n",), {}, "critical",
                    "protocol error: PING: Bad integer value"),
    "too-wide": ((b"*16385\r\n+x\r\n",), {}, "critical", "cannot decide: PING: the reply is .*"),
}


def test_any_split_gives_the_same(bench, lab):
    checks = {}
    for name, (replies, keys, *_) in SPLIT.items():
        for size in (1, 2, 3, 7, 100000):
            server = bench.play(lambda connection, play=script(*replies), size=size:
                                play(connection, size))
            checks[f"{name}-{size}"] = {"redis": {"address": server.address, **keys}}
    rows = probe_all(lab, checks)
    for check in checks:
        _, _, status, output = SPLIT[check.rpartition("-")[0]]
        expect(rows[check], status, output, (0, 1))


def test_names(bench, lab):
    port = bench.open.port
    dns = DnsServer({"second.test": ["127.0.0.2", "127.0.0.1"], "six.test": ["::1", "127.0.0.1"],
                     "deaf.test": ["127.0.0.3", "127.0.0.1"],
                     "dead.test": ["127.0.0.2", "127.0.0.4"], "hang.test": SILENCE})
    lab.defer(dns.stop)
    deaf = DeafListener("127.0.0.3", port)
    lab.defer(deaf.stop)
    checks = {name: {"redis": f"{name}.test:{port}"}
              for name in ("second", "six", "deaf", "dead", "nx")}
    checks["hang"] = {"redis": f"hang.test:{port}", "timeout": "1s"}
    checks["v6"] = {"redis": {"address": f"second.test:{port}", "ip": "v6"}}
    rows = probe_all(lab, checks, resolver={"servers": [dns.address], "timeout": "300ms"})
    for name, longest in (("second", 0.5), ("six", 0.5), ("deaf", 3)):
        expect(rows[name], "passing", rf"127\.0\.0\.1:{port}: PONG", (0, longest))
    expect(rows["dead"], "critical", rf"cannot connect: 127\.0\.0\.2:{port} Connection refused, "
           rf"127\.0\.0\.4:{port} Connection refused", (0, 0.5))
    expect(rows["nx"], "critical", "cannot resolve: nx.test: no such name", (0, 0.5))
    expect(rows["v6"], "critical", "cannot resolve: second.test: the name has no such address",
           (0, 0.5))
    expect(rows["hang"], "critical", "timed out after 1s; looking up hang.test", (1, 1.3))


def fewest(daemon):
    """Descriptors between runs, or nearly so."""
    return min(descriptors(daemon.pid) for _ in range(100))


def test_a_thousand_sessions_leave_nothing(bench, lab):
    keys = {"address": bench.closed.address, **bench.login, "role": "master"}
    daemon = lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": f"c{number}", "interval": "100ms", "timeout": "3s",
         "redis": {"address": bench.tls.address, "tls": bench.ca} if number % 2 else keys}
        for number in range(20)]})

    def runs():
        return sum(daemon.check(f"c{number}")["runs"] for number in range(20))

    wait_for(lambda: runs() > 300, 30)
    before, memory = fewest(daemon), memory_kib(daemon.pid)
    wait_for(lambda: runs() > 1300, 60)
    # One that each run left behind would be a thousand; a busy machine has more runs open at once.
    wait_for(lambda: fewest(daemon) <= before + 5, 10)
    assert SANITIZED or memory_kib(daemon.pid) - memory <= 1024
    assert all(daemon.check(f"c{number}")["status"] == "passing" for number in range(20))
    assert len(bench.closed.clients()) <= 20 and len(bench.tls.clients()) <= 20
    daemon.stop()
    for server in (bench.closed, bench.tls):
        wait_for(lambda server=server: not server.clients(), 5)


def test_no_output_has_the_password(bench, lab):
    targets = {"right": bench.closed.address, "open": bench.open.address,
               "renamed": bench.renamed.address, "echo": bench.plays["echo"].address,
               "http": f"127.0.0.1:{bench.http}", "closed": f"127.0.0.1:{free_port()}",
               "late-echo": late_echo(bench).address}
    daemon = lab.probity(
        {"consul": "off", "service": {"id": "web-1"}, "checks": [
            {"name": name + kind, "interval": "200ms", "redis": {
                "address": address, "password": password, "user": user,
                "command": ["ECHO", "${HIDDEN}"], "expect": "^nothing"}}
            for name, address in targets.items()
            for kind, password in (("-file", {"file": str(bench.password)}), ("-text", SECRET))
            for user in ("default",)]},
        arguments=("--log-level", "debug"), env={"HIDDEN": "S3CRET-word"})
    for name in targets:
        for kind in ("-file", "-text"):
            daemon.wait_check(name + kind, status="critical")
    done = run_probity("status", "--json", "--runtime-dir", daemon.runtime_dir)
    verbose = run_probity("probe", "-v", "-c", daemon.config, env={"HIDDEN": "S3CRET-word"})
    dump = run_probity("validate", "--dump", "-c", daemon.config, env={"HIDDEN": "S3CRET-word"})
    assert "ECHO: the reply does not match" in verbose.stdout and "***" in verbose.stdout
    text = daemon.log_text() + "".join(
        one.stdout + one.stderr for one in (done, verbose, dump)) + str(daemon.status())
    assert "right-file" in text and "S3CRET" not in text


def late_echo(bench):
    """Logs in whoever comes, and then quotes the login in an error and in a text."""
    def play(connection):
        login = connection.recv(512)
        connection.sendall(b"+OK\r\n")
        connection.recv(512)
        connection.sendall(b"-ERR what is " + login.replace(b"\r\n", b" ") + b"\r\n")
        silent(connection)
    return bench.play(play)
