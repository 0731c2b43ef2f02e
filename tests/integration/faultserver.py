# SPDX-License-Identifier: MIT
"""An HTTP server that misbehaves in one way per path: stalls, drips, cuts, floods, redirects."""
import functools
import gzip
import time
import zlib

from http_server import CUT, RESET, SILENCE, HttpServer, Reply, reset

MIB = 1024 * 1024
SPLIT_FILLER = 20000
CHUNK_PAUSE = 0.1


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


@functools.lru_cache
def zero_bomb(inflated=2048 * MIB):
    """A gzip body of a thousandth of what it inflates to. Only its trailer is a lie."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(MIB)) + packer.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + block * (inflated // MIB) + b"\x03\x00" + bytes(8)


class FaultServer(HttpServer):
    """GET /NAME or /NAME/ARGUMENT runs the method do_NAME(request, argument).

    `sent` counts the bytes of bodies handed to the kernel by path; `ended` says when the other
    side closed.
    """

    def __init__(self, **options):
        self.sent = {}
        self.ended = {}
        super().__init__(**options)

    def answer(self, request):
        name, _, argument = request.target.split("?")[0].lstrip("/").partition("/")
        method = getattr(self, "do_" + name.replace("-", "_"), None)
        return Reply(404, "no such fault\n") if method is None else method(request, argument)

    def asked(self, path):
        """The requests for a path, the query left out."""
        with self.lock:
            return [r for r in self.requests if r.target.split("?")[0] == path]

    # Sending by hand.

    @staticmethod
    def _send(connection, request, reply):
        """Besides: `raw` is the head of what `stream` sends."""
        if reply.raw is None or reply.stream is None:
            return HttpServer._send(connection, request, reply)
        request.answered = reply.status
        connection.sendall(reply.raw)
        reply.stream(connection)
        return False

    def _stream(self, request, *steps, close=False, **headers):
        """A Reply whose body is bytes and pauses (seconds, None: until the other side closes)."""
        def play(connection):
            for step in steps:
                if isinstance(step, bytes):
                    connection.sendall(step)
                elif step is None:
                    self._wait_end(connection, request.target)
                else:
                    time.sleep(step)
        if close:
            headers["Connection"] = "close"
        return Reply(headers={k.replace("_", "-"): v for k, v in headers.items()}, stream=play)

    def _wait_end(self, connection, path):
        try:
            while connection.recv(4096):
                pass
        except OSError:
            pass
        self.ended[path] = time.monotonic()

    def _flood(self, request, piece, pause=0.0, count=None, **headers):
        """The same bytes again and again until the other side closes."""
        def play(connection):
            number = 0
            try:
                while count is None or number < count:
                    connection.sendall(piece)
                    number += 1
                    self.sent[request.target] = self.sent.get(request.target, 0) + len(piece)
                    time.sleep(pause)
            except OSError:
                self.ended[request.target] = time.monotonic()
        return Reply(headers={k.replace("_", "-"): v for k, v in headers.items()}, stream=play)

    # Bodies that do not come whole.

    def do_stall(self, request, _):
        return self._stream(request, b"half", None, Content_Length="100")

    def do_chunk_stall(self, request, _):
        return self._stream(request, chunk(b"half"), None, Transfer_Encoding="chunked")

    def do_drip(self, request, _):
        return self._flood(request, b"x", 0.2, Content_Length="100000")

    def do_cut(self, request, _):
        return self._stream(request, b"half", Content_Length="100")

    def do_chunk_cut(self, request, _):
        return self._stream(request, chunk(b"half"), Transfer_Encoding="chunked")

    def do_reset_body(self, request, _):
        def play(connection):
            connection.sendall(b"half")
            time.sleep(CHUNK_PAUSE)
            reset(connection)
        del request
        return Reply(headers={"Content-Length": "100"}, stream=play)

    def do_bad_chunk(self, request, _):
        return self._stream(request, b"zzz\r\nhalf\r\n", None, Transfer_Encoding="chunked")

    def do_until_close(self, request, _):
        """No length: the end of the connection is the end of the body."""
        return self._stream(request, b"all of it", close=True)

    # Heads that do not come whole, or at all.

    def do_silent(self, *_):
        return SILENCE

    def do_close(self, *_):
        return CUT

    def do_reset(self, *_):
        return RESET

    def do_head_drip(self, request, _):
        def play(connection):
            number = 0
            try:
                while True:
                    connection.sendall(b"X-%d: y\r\n" % number)
                    number += 1
                    time.sleep(0.3)
            except OSError:
                self.ended[request.target] = time.monotonic()
        return Reply(raw=b"HTTP/1.1 200 OK\r\n", stream=play)

    def do_head_cut(self, request, _):
        return Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Le", close=True)

    def do_no_http(self, *_):
        return Reply(raw=b"SSH-2.0-OpenSSH_9.2p1\r\n", close=True)

    def do_many_headers(self, *_):
        lines = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 1000) for n in range(5 * MIB // 1010))
        return Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + lines + b"\r\n", close=True)

    def do_long_header(self, *_):
        return Reply(headers={"X-Long": "y" * 5 * MIB})

    def do_continue(self, *_):
        return Reply(raw=b"HTTP/1.1 103 Early Hints\r\nLocation: /elsewhere\r\n\r\n"
                         b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready", close=True)

    def do_trailer(self, request, _):
        return self._stream(request, chunk(b"ready") + b"0\r\nX-End: yes\r\n\r\n",
                            Transfer_Encoding="chunked")

    def do_trailer_redirect(self, request, _):
        reply = self._stream(request, chunk(b"moved") + b"0\r\nLocation: /status/200\r\n\r\n",
                             Transfer_Encoding="chunked")
        reply.status = 302
        return reply

    # Too much.

    def do_endless(self, request, _):
        return self._flood(request, chunk(bytes(65536)), 0.01, Transfer_Encoding="chunked")

    def do_bomb(self, request, _):
        return self._stream(request, zero_bomb(), Content_Encoding="gzip")

    def do_size(self, request, argument):
        """A body of so many x, then END."""
        del request
        return Reply(body="x" * (int(argument) - 3) + "END")

    # What is fine.

    def do_status(self, request, argument):
        body = "" if argument in ("204", "304") else f"status {argument}\n"
        del request
        return Reply(raw=f"HTTP/1.1 {argument} Words\r\n".encode() + (
            b"\r\n" if not body else b"Content-Length: %d\r\n\r\n%s" % (len(body), body.encode())),
            close=True)

    def do_split(self, request, _):
        return self._stream(
            request, chunk(b"f" * SPLIT_FILLER) + chunk(b"REA"), CHUNK_PAUSE,
            chunk(b"DY=yes") + b"0\r\n\r\n", Transfer_Encoding="chunked")

    def do_at(self, request, argument):
        """READY=yes begins at that offset."""
        body = b"f" * int(argument) + b"READY=yes" + b"g" * 5000
        return self._stream(request, body[:4096], CHUNK_PAUSE, body[4096:],
                            Content_Length=str(len(body)))

    def do_gzip(self, request, _):
        data = gzip.compress(b"f" * SPLIT_FILLER + b"READY=yes")
        half = len(data) // 2
        return self._stream(request, data[:half], CHUNK_PAUSE, data[half:],
                            Content_Length=str(len(data)), Content_Encoding="gzip")

    def do_bad_gzip(self, *_):
        return Reply(body=b"this is no gzip at all", headers={"Content-Encoding": "gzip"})

    def do_gzip_cut(self, request, _):
        data = gzip.compress(b"READY=yes")
        return Reply(body=data[:-12], headers={"Content-Encoding": "gzip"})

    def do_unknown_encoding(self, *_):
        return Reply(body="READY=yes", headers={"Content-Encoding": "rot13"})

    def do_latin(self, *_):
        return Reply(body=b"temp \xb0C \x1b[1mok\x00\xff")

    # Redirects.

    def do_redirect(self, request, argument):
        """/redirect/CODE?LOCATION, the rest of the target being sent as it is."""
        return Reply(int(argument), "moved BODY_OF_REDIRECT",
                     {"Location": request.target.partition("?")[2]})

    def do_loop(self, request, argument):
        """/loop/N redirects to /loop/N-1; /loop/0 answers."""
        del request
        left = int(argument)
        return Reply(body="at last") if left == 0 else Reply(
            302, "", {"Location": f"/loop/{left - 1}"})
