# SPDX-License-Identifier: MIT
"""HTTP/2 by hand, for answers that a real server does not give: one play per port."""
import struct
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, END_HEADERS, ACK = 1, 4, 1
GRPC = {":status": "200", "content-type": "application/grpc"}
OK = {"grpc-status": "0"}
SERVING = bytes([0, 0, 0, 0, 2, 8, 1])


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) \
        + payload


def headers(fields, end=False):
    """HPACK without its tables: each field as literal text (RFC 7541, 6.2.2)."""
    block = b"".join(b"\0" + length(name) + name.encode() + length(value) + value.encode()
                     for name, value in fields.items())
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), 1, block)


def length(text):
    size = len(text.encode())
    return bytes([size]) if size < 127 else bytes([127, (size - 127) & 127 | 128, (size - 127) >> 7])


def data(payload, end=False):
    return frame(DATA, END_STREAM if end else 0, 1, payload)


class Session:
    """One connection, after the client's whole request has come."""

    def __init__(self, connection):
        self.connection = connection
        self.bytes = b""
        self.frames = []  # (kind, flags, stream) of the client's
        assert self._take(len(PREFACE)) == PREFACE
        connection.sendall(frame(SETTINGS, 0, 0))
        while not any(stream == 1 and flags & END_STREAM for _, flags, stream in self.frames):
            self.read()
        connection.sendall(frame(SETTINGS, ACK, 0))

    def _take(self, size):
        while len(self.bytes) < size:
            more = self.connection.recv(65536)
            if not more:
                raise OSError("closed")
            self.bytes += more
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        return taken

    def read(self):
        head = self._take(9)
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
        payload = self._take(int.from_bytes(head[:3], "big"))
        self.frames.append((kind, flags, stream))
        return kind, payload

    def rest(self):
        """Until the client closes: the frames that still come."""
        try:
            while True:
                self.read()
        except OSError:
            return self.frames


def answers(*frames, pause=0, piece=None, then=None):
    """A play for net_bench.TcpServer: sends the frames, then waits for the client to close."""
    def play(connection):
        session = Session(connection)
        sent = b"".join(frames)
        for at in range(0, len(sent), piece or len(sent) or 1):
            connection.sendall(sent[at:at + (piece or len(sent))])
            time.sleep(pause)
        if then:
            then(connection)
        else:
            session.rest()
    return play
