#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A real web service freezes under a real Consul agent: who notices, and how soon. See demo.sh."""
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "integration"))

from lab import Lab, children, dns_srv, free_port, holds, wait_for  # noqa: E402
from processes import adopt_orphans  # noqa: E402

INTERVAL, TIMEOUT = 1.0, 1.0
# A run that begins just before the freeze passes; the next begins an interval later and is judged
# when its timeout is over. Coming back takes one run that passes.
PROMISE_OUT, PROMISE_BACK = INTERVAL + TIMEOUT, INTERVAL
MACHINE = 0.3  # s, for a busy machine between a result and our own look at it
FROZEN = 5.0   # s
# Freezes begin at different moments of the interval: just after a run is the worst case.
ROUNDS = (0.1, 0.5, 0.9)

NGINX = """
daemon off;
worker_processes 2;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
	access_log off;
	client_body_temp_path {folder}/body;
	proxy_temp_path {folder}/proxy;
	fastcgi_temp_path {folder}/fastcgi;
	uwsgi_temp_path {folder}/uwsgi;
	scgi_temp_path {folder}/scgi;
	server {{
		listen 127.0.0.1:{port};
		location = /ready {{ return 200 "ready\\n"; }}
	}}
}}
"""


class Poller:
    """Asks again and again in a thread and keeps (time, answer) of each change."""

    def __init__(self, ask):
        self.ask, self.changes, self.stopped = ask, [], False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.stopped:
            value = self.ask()
            if not self.changes or self.changes[-1][1] != value:
                self.changes.append((time.monotonic(), value))
            time.sleep(0.005)

    @property
    def value(self):
        return self.changes[-1][1] if self.changes else None

    def since(self, moment):
        """Seconds from the moment to the last change."""
        return self.changes[-1][0] - moment

    def stop(self):
        self.stopped = True
        self.thread.join(5)


class Demo:
    """The parts on stage."""

    def __init__(self, lab):
        folder = lab.subfolder("nginx")
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        self.nginx = lab.spawn(["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)],
                               stderr=subprocess.DEVNULL)
        self.consul = lab.consul()
        wait_for((folder / "nginx.pid").exists, 5, what="nginx")
        wait_for(lambda: len(children(self.nginx.pid)) == 2, 5, what="the workers of nginx")
        lab.defer(lambda: self.signal(signal.SIGKILL))
        self.probity = lab.probity({
            "consul": {"address": self.consul.url},
            "service": {"id": "web-1", "register": {"name": "web", "port": port}},
            "checks": [
                {"name": "ready", "http": f"http://127.0.0.1:{port}/ready",
                 "interval": f"{INTERVAL:g}s", "timeout": f"{TIMEOUT:g}s"},
                {"name": "process", "interval": f"{INTERVAL:g}s",
                 "script": ["pgrep", "-F", str(folder / "nginx.pid"), "nginx"]},
            ]})
        for ident in ("web-1:ready", "web-1:process"):
            self.consul.wait_status(ident, "passing")
        self.process = self.consul.watch_check("web", "web-1:process")
        self.passing = Poller(lambda: len(self.consul.health("web", passing=True)))
        self.dns = Poller(lambda: len(dns_srv(self.consul.dns_port, "web.service.consul")))
        lab.defer(self.passing.stop)
        lab.defer(self.dns.stop)
        print(f"Consul on {self.consul.url}, nginx (pid {self.nginx.pid}) on port {port}; "
              f"checks: ready (http), process (pgrep)")

    def signal(self, number):
        for pid in (*children(self.nginx.pid), self.nginx.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def wait_run(self):
        """Waits for the next start of a run of `ready`."""
        wait_for(lambda: self.probity.check("ready")["next_run_in"] < 0.1, 5, 0.01)
        time.sleep(0.1)

    def wait_both(self, count, timeout):
        wait_for(lambda: self.passing.value == count and self.dns.value == count, timeout, 0.005,
                 what=lambda: f"{count} instances; ?passing has {self.passing.value}, "
                              f"DNS {self.dns.value}")

    def round(self, offset):
        """One freeze; returns the four measured times."""
        self.wait_both(1, 5)
        self.wait_run()
        time.sleep(offset * INTERVAL)
        frozen = time.monotonic()
        self.signal(signal.SIGSTOP)
        self.wait_both(0, 2 * PROMISE_OUT + 2)
        out = (self.passing.since(frozen), self.dns.since(frozen))
        holds(lambda: self.consul.status("web-1:process") == "passing",
              max(0, frozen + FROZEN - time.monotonic()), what="pgrep passing while frozen")
        thawed = time.monotonic()
        self.signal(signal.SIGCONT)
        self.wait_both(1, 2 * PROMISE_BACK + 2)
        return (*out, self.passing.since(thawed), self.dns.since(thawed))


def report(rows, process_values):
    line = "{:<34}" + "{:>9}" * len(rows) + "{:>10}  {}"
    print()
    print(line.format("seconds, measured in each round", *range(1, len(rows) + 1), "promised", ""))
    names = (("frozen -> out of ?passing", PROMISE_OUT), ("frozen -> out of DNS SRV", PROMISE_OUT),
             ("thawed -> back in ?passing", PROMISE_BACK), ("thawed -> back in DNS SRV",
                                                            PROMISE_BACK))
    good = True
    for place, (name, promise) in enumerate(names):
        times = [row[place] for row in rows]
        kept = all(each <= promise + MACHINE for each in times)
        good = good and kept
        print(line.format(name, *(f"{each:.2f}" for each in times), f"{promise:.2f}",
                          "kept" if kept else "BROKEN"))
    blind = process_values == ["passing"]
    print(f"pgrep check, all the while:       {', '.join(map(str, process_values))}")
    return good and blind


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
    adopt_orphans()
    lab = Lab()
    try:
        demo = Demo(lab)
        print(f"promise: interval {INTERVAL:g} s + timeout {TIMEOUT:g} s = {PROMISE_OUT:g} s to go, "
              f"{PROMISE_BACK:g} s to come back ({MACHINE:g} s allowed for the machine)")
        rows = []
        for offset in ROUNDS:
            rows.append(demo.round(offset))
            print(f"frozen {FROZEN:g} s: process there, port bound, nothing answered; "
                  f"out after {rows[-1][0]:.2f} s, back after {rows[-1][2]:.2f} s")
        good = report(rows, demo.process.values)
    finally:
        lab.end()
    print("all promises kept" if good else "NOT all promises kept")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
