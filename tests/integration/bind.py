# SPDX-License-Identifier: MIT
"""A real name server (BIND) with zones that hold every kind of answer, and one that plays a part."""
import os
import socket
import threading
import time

from lab import free_block
from mail_servers import Server, find, give

CONFIG = """
options {{
    directory "{folder}";
    pid-file "{folder}/pid";
    listen-on port {port} {{ 127.0.0.1; }};
    listen-on-v6 port {port} {{ ::1; }};
    recursion yes;
    allow-recursion {{ 127.0.0.1; ::1; }};
    forward only;
    forwarders {{ 127.0.0.1 port {dead}; }};
    dnssec-validation no;
    empty-zones-enable no;
    rrset-order {{ order random; }};
    minimal-responses no;
    session-keyfile none;
}};
controls {{ }};
zone "web.test" {{ type primary; file "{folder}/web"; }};
zone "2.0.192.in-addr.arpa" {{ type primary; file "{folder}/reverse4"; }};
zone "8.b.d.0.1.0.0.2.ip6.arpa" {{ type primary; file "{folder}/reverse6"; }};
zone "broken.test" {{ type primary; file "{folder}/missing"; }};
zone "closed.test" {{ type primary; file "{folder}/web"; allow-query {{ none; }}; }};
"""

WEB = """
$TTL 60
@       SOA   ns1 admin.web.test. ( 7 3600 600 86400 60 )
        NS    ns1
        NS    ns2
        MX    10 mail
        MX    20 mail2
        TXT   "v=spf1 -all"
        TXT   "a \\"quoted\\" text" "in two"
ns1     A     192.0.2.1
ns2     A     192.0.2.2
one     A     192.0.2.10
pool    A     192.0.2.11
        A     192.0.2.12
        A     192.0.2.13
        A     192.0.2.14
        AAAA  2001:db8::11
alias   CNAME alias2
alias2  CNAME pool
loose   CNAME nowhere
_http._tcp SRV 10 60 8080 node1
           SRV 10 40 8080 node2
node1   A     192.0.2.21
node2   A     192.0.2.22
*.wild  A     192.0.2.30
{many}
"""

REVERSE4 = """
$TTL 60
@       SOA   ns1.web.test. admin.web.test. ( 1 3600 600 86400 60 )
        NS    ns1.web.test.
10      PTR   one.web.test.
"""

REVERSE6 = """
$TTL 60
@       SOA   ns1.web.test. admin.web.test. ( 1 3600 600 86400 60 )
        NS    ns1.web.test.
1.1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR pool.web.test.
"""


class Bind(Server):
    """web.test has the records above; the zone broken.test cannot be loaded, closed.test refuses,
    and whatever else there is would be asked of a port that nobody serves."""

    def prepare(self, pair):
        self.port = free_block(2)  # free for UDP too
        many = "\n".join(f'many TXT "{"x" * 100}{number}"' for number in range(40))
        files = {"web": WEB.format(many=many), "reverse4": REVERSE4, "reverse6": REVERSE6,
                 "named.conf": CONFIG.format(folder=self.folder, port=self.port,
                                             dead=self.port + 1)}
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        give(self.folder, "bind")
        user = ["-u", "bind"] if os.geteuid() == 0 else []
        return [find("named"), "-g", "-n", "1", *user, "-c", str(self.folder / "named.conf")], {}

    def is_up(self):
        return super().is_up() and "running" in self.log

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def connections(self):
        """TCP connections to it that are there, in any state but listening, ours or its."""
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [row.split() for row in table][1:]
        port = f":{self.port:04X}"
        return [row for row in rows
                if row[3] not in ("0A", "06") and port in row[1] + row[2]]


class DatagramServer:
    """play(question) gives the datagrams with which each question is answered, in order."""

    def __init__(self, play, port=0):
        self.play = play
        self.asked = []  # (monotonic time, question)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", port))
        self.port = self.socket.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                question, peer = self.socket.recvfrom(65535)
                if not question:
                    return
                self.asked.append((time.monotonic(), question))
                for answer in self.play(question):
                    self.socket.sendto(answer, peer)
            except OSError:
                return

    def stop(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", self.port))
        self.socket.close()
