# SPDX-License-Identifier: MIT
"""TCP servers that play a given part, listeners that swallow SYNs, and checks run once each."""
import json
import re
import socket
import struct
import threading

from lab import TOLERANCE, run_probity, strict_json


class TcpServer:
    """play(connection) runs in a thread per connection, which is closed after it."""

    def __init__(self, play, host="127.0.0.1"):
        self.play = play
        self.listener = socket.create_server((host, 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.address = f"{host}:{self.port}"
        self.open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(connection)
            threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        try:
            self.play(connection)
        except OSError:
            pass
        finally:
            connection.close()

    def stop(self):
        for one in [self.listener, *self.open]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


def reset(connection):
    """Ends a connection with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class DeafListener:
    """A port whose queue is full: Linux then drops each further SYN."""

    def __init__(self, host, port=0):
        self.sockets = [socket.socket()]
        self.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sockets[0].bind((host, port))
        self.sockets[0].listen(0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self.sockets[0].getsockname())
            self.sockets.append(filler)

    def stop(self):
        for one in self.sockets:
            one.close()


def write_config(folder, checks, **top):
    """checks: name -> keys of the check."""
    rows = [{"name": name, "timeout": "3s", **keys} for name, keys in checks.items()]
    path = folder / "net.yaml"
    path.write_text(json.dumps({"consul": "off", "service": {"id": "web-1"}, "checks": rows,
                                **top}, indent=1), encoding="utf-8")
    path.chmod(0o600)
    return path


def probe_all(lab, checks, **top):
    """Each check once, all at the same time: name -> row of `probity probe --json`."""
    done = run_probity("probe", "-c", write_config(lab.subfolder("n"), checks, **top), "--json")
    assert done.returncode in (0, 1, 2) and done.stdout, (done.returncode, done.stderr)
    rows = {row["name"]: row for row in strict_json(done.stdout.encode())}
    assert set(rows) == set(checks)
    return rows


def expect(row, status, pattern, within=(0, 0.3)):
    """The whole output is matched, and the run took from..to seconds (0.3 s of tolerance in to)."""
    assert row["status"] == status and re.fullmatch(pattern, row["output"], re.DOTALL), row
    # A timer may be a hair early on a clock read later; the sanitizers take their own time.
    assert within[0] - 0.05 <= row["seconds"] <= within[1] + TOLERANCE - 0.3, row
