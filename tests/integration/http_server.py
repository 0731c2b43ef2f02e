# SPDX-License-Identifier: MIT
"""A loopback HTTP/1.1 server on plain sockets that logs all it gets and can misbehave."""
import dataclasses
import json
import os
import socket
import struct
import threading
import time
import urllib.parse

SILENCE = object()  # keep the connection open and never answer
CUT = object()      # close the connection without an answer
RESET = object()    # the same with a TCP reset


@dataclasses.dataclass
class Reply:
    """What a hook returns. `stream` gets the socket after the head, to send a body by hand."""
    status: int = 200
    body: bytes | str = b""
    headers: dict = dataclasses.field(default_factory=dict)
    delay: float = 0
    close: bool = False
    raw: bytes | None = None  # sent in place of all the above
    stream: object = None     # callable(socket); no Content-Length is sent then


@dataclasses.dataclass
class Request:
    at: float          # time.monotonic() when the last byte of the head was there
    connection: int    # 1 for the first connection accepted
    line: str          # the raw request line
    headers: list      # (name as sent, value), in order
    body: bytes
    answered: object = None  # status of the answer; None while open; SILENCE, CUT, RESET
    json: object = None      # the body, where it was JSON and the server decodes it

    @property
    def method(self):
        return self.line.split(" ", 1)[0]

    @property
    def target(self):
        return self.line.split(" ")[1]

    @property
    def path(self):
        """Decoded once, without the query."""
        return urllib.parse.unquote(self.target.split("?", 1)[0])

    @property
    def query(self):
        pairs = urllib.parse.parse_qsl(self.target.partition("?")[2], keep_blank_values=True)
        return dict(pairs)

    def header(self, name, fallback=None):
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return fallback


def strict_json(data):
    """Refuses what a strict reader refuses: bad UTF-8, raw controls, NaN, repeated keys, a tail."""
    def pairs(items):
        keys = [key for key, _ in items]
        if len(keys) != len(set(keys)):
            raise ValueError(f"repeated key in {keys}")
        return dict(items)

    def constant(name):
        raise ValueError(f"{name} is not JSON")
    return json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_constant=constant)


class HttpServer:
    """Answers 200 `ok`, or what `hook(request)` returns unless that is None.

    hook may be changed at any time. close() and open() take the listening socket away and
    bring it back on the same port; drop() ends the open connections.
    """

    def __init__(self, hook=None, port=0, unix=None, tls=None):
        self.hook = hook
        self.unix = unix
        self.tls = tls  # an ssl.SSLContext
        self.port = port
        self.requests = []
        self.connections = 0
        self.lock = threading.RLock()
        self.listener = None
        self._open = set()
        self.open()

    @property
    def url(self):
        if self.unix:
            return f"unix://{self.unix}"
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    # Listening.

    def open(self):
        if self.unix:
            listener = socket.socket(socket.AF_UNIX)
            if os.path.exists(self.unix):
                os.unlink(self.unix)
            listener.bind(self.unix)
        else:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", self.port))
            self.port = listener.getsockname()[1]
        listener.listen(512)
        self.listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self, drop=True):
        """From now on connections are refused."""
        listener, self.listener = self.listener, None
        if listener is not None:
            try:
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            except OSError:
                pass
            listener.close()
        if drop:
            self.drop()

    def drop(self):
        with self.lock:
            connections = list(self._open)
        for connection in connections:
            _shut(connection)

    def stop(self):
        self.close()

    @property
    def open_connections(self):
        with self.lock:
            return len(self._open)

    @property
    def open_requests(self):
        """Requests read and not answered, whose connection is still there."""
        with self.lock:
            return sum(1 for request in self.requests if request.answered is None)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                self.connections += 1
                number = self.connections
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    # One connection.

    def _serve(self, connection, number):
        stream = connection
        try:
            if self.tls is not None:
                stream = self.tls.wrap_socket(connection, server_side=True)
            elif self.unix is None:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = stream.makefile("rb")
            while self._one(stream, reader, number):
                pass
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                self._open.discard(connection)
            _shut(stream)
            stream.close()

    def _one(self, connection, reader, number):
        request = self._read(reader, number)
        if request is None:
            return False
        self.decode(request)
        with self.lock:
            self.requests.append(request)
        reply = self.hook(request) if self.hook is not None else None
        if reply is None:
            reply = self.answer(request)
        if reply is SILENCE:
            request.answered = None
            reader.read()  # until the other side gives up
            request.answered = SILENCE
            return False
        if reply is CUT or reply is RESET:
            request.answered = reply
            if reply is RESET:
                reset(connection)
            return False
        return self._send(connection, request, reply)

    @staticmethod
    def _read(reader, number):
        line = reader.readline()
        if not line.strip():
            return None
        headers = []
        while True:
            header = reader.readline()
            if header in (b"\r\n", b"\n", b""):
                break
            name, _, value = header.decode("latin-1").partition(":")
            headers.append((name, value.strip()))
        request = Request(time.monotonic(), number, line.decode("latin-1").rstrip("\r\n"),
                          headers, b"")
        request.body = reader.read(int(request.header("Content-Length", "0")))
        return request

    @staticmethod
    def _send(connection, request, reply):
        if reply.delay:
            time.sleep(reply.delay)
        request.answered = reply.status
        if reply.raw is not None:
            connection.sendall(reply.raw)
            return not reply.close
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        head = [f"HTTP/1.1 {reply.status} Status"]
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        if reply.stream is None:
            head.append(f"Content-Length: {len(body)}")
        if reply.close:
            head.append("Connection: close")
        data = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")
        if request.method != "HEAD":
            data += body
        connection.sendall(data)
        if reply.stream is not None:
            reply.stream(connection)
            return False
        wants_close = request.header("Connection", "").lower() == "close"
        return not (reply.close or wants_close)

    def decode(self, request):
        """Fills request.json, where a server wants it, before the hook sees the request."""

    def answer(self, _request):
        return Reply(body="ok\n")


def reset(connection):
    """Closes with RST. close() alone would wait for the files made of the socket."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(connection.detach())


def _shut(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
