# SPDX-License-Identifier: MIT
"""A name server on loopback that answers as it is told: addresses, nothing, errors, silence."""
import ipaddress
import socket
import struct
import threading
import time

A, AAAA = 1, 28
SILENCE = "silence"
NXDOMAIN = 3
SERVFAIL = 2


class DnsServer:
    """names: lower-case name -> list of address texts, SILENCE, NXDOMAIN or SERVFAIL.

    A name that is not there is NXDOMAIN; one with no address of the asked family has no answer.
    The addresses keep their order. queries: (monotonic time, name, type), as they come.
    """

    def __init__(self, names=None, ttl=0):
        self.names = dict(names or {})
        self.ttl = ttl
        self.queries = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.1)
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.ending = False
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def stop(self):
        self.ending = True
        self.thread.join(2)
        self.socket.close()

    def asked(self, name):
        return [kind for _, asked, kind in list(self.queries) if asked == name]

    def _serve(self):
        while not self.ending:
            try:
                packet, peer = self.socket.recvfrom(512)
            except (socket.timeout, ConnectionError):
                continue
            reply = self._answer(packet)
            if reply is not None:
                self.socket.sendto(reply, peer)

    def _answer(self, packet):
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1:at + 1 + packet[at]].decode("latin-1"))
            at += packet[at] + 1
        kind, = struct.unpack("!H", packet[at + 1:at + 3])
        question = packet[12:at + 5]
        name = ".".join(labels).lower()
        self.queries.append((time.monotonic(), name, kind))
        what = self.names.get(name, NXDOMAIN)
        if what == SILENCE:
            return None
        code, records = (what, []) if isinstance(what, int) else (0, self._records(what, kind))
        return (packet[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0) +
                question + b"".join(records))

    def _records(self, addresses, kind):
        records = []
        for text in addresses:
            address = ipaddress.ip_address(text)
            if kind == (A if address.version == 4 else AAAA):
                records.append(struct.pack("!HHHIH", 0xC00C, kind, 1, self.ttl,
                                           len(address.packed)) + address.packed)
        return records
