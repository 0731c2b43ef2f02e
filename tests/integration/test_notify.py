# SPDX-License-Identifier: MIT
"""What a service manager is told by its socket; the test is the service manager."""
import os
import re
import signal
import socket
import time

from lab import TOLERANCE, wait_for

WATCHDOG = 2  # s


class Manager:
    """A socket at which a daemon says how it goes."""

    def __init__(self, folder):
        self.path = str(folder / "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(self.path)
        self.messages = []  # (monotonic time, text)

    def read(self):
        while True:
            try:
                text = self.socket.recv(8192).decode()
            except BlockingIOError:
                return self.messages
            self.messages.append((time.monotonic(), text))

    def texts(self, pattern, after=0):
        """Those that match as a whole, from the number `after` on."""
        return [text for _, text in self.read()[after:] if re.fullmatch(pattern, text)]

    def wait(self, pattern, after=0, timeout=5):
        return wait_for(lambda: self.texts(pattern, after), timeout,
                        what=lambda: f"{pattern}; {self.messages}")[0]


def start(lab, config, **env):
    manager = Manager(lab.subfolder("m"))
    daemon = lab.probity(config, env={"NOTIFY_SOCKET": manager.path, **env}, start=False)
    lab.defer(manager.socket.close)
    return manager, daemon


def script(name, text):
    return {"name": name, "script": ["/bin/sh", "-c", text], "interval": "1s"}


def test_ready_means_that_it_answers(lab):
    manager, daemon = start(lab, {"consul": "off", "checks": [script("a", "exit 0")]})
    daemon.start(ready=False)
    manager.wait("READY=1", timeout=10)
    assert daemon.status()["pid"] == daemon.pid
    manager.wait("STATUS=1 check: 1 passing; no agent")
    daemon.stop()
    manager.wait("STOPPING=1\nSTATUS=stopping")
    assert len(manager.texts("READY=1")) == 1
    assert not manager.texts("WATCHDOG=1"), "nobody asked for it"


def test_a_bad_configuration_is_never_ready(lab):
    manager, daemon = start(lab, {"consul": "off", "checks": []})
    daemon.expected_codes.add(2)
    daemon.start(ready=False)
    assert daemon.process.wait(10) == 2
    assert not manager.read()


def test_status_follows_what_changes_and_no_faster_than_a_second(lab):
    agent = lab.fake_agent()
    agent.add_service("web-1", "web", 8080)
    flag = lab.folder / "flag"
    flapping = script("flapping", f"test ! -e {flag} && touch {flag} || {{ rm {flag}; exit 2; }}")
    flapping["interval"] = "100ms"
    manager, daemon = start(lab, {
        "consul": {"address": agent.url}, "service": {"id": "web-1"},
        "checks": [flapping, script("bad", "exit 2"), script("so-so", "exit 1")]})
    daemon.start()
    manager.wait("STATUS=3 checks: (1 passing, 1 warning, 1|1 warning, 2) critical; "
                 "agent reachable")
    begin = len(manager.read())
    agent.stop()
    manager.wait("STATUS=3 checks: .*; agent unreachable: Connection refused", after=begin)
    time.sleep(2)
    times = [at for at, text in manager.read()[1:] if text.startswith("STATUS=")]
    assert len(times) >= 3
    # As they are read together, what counts is how many there are in all.
    assert len(times) <= times[-1] - daemon.started_at + 2


def test_reloads_are_told_with_their_time_and_what_was_wrong(lab):
    config = {"consul": "off", "checks": [script("a", "exit 0")]}
    manager, daemon = start(lab, config)
    daemon.start()
    manager.wait("STATUS=1 check: 1 passing; no agent")
    begin = len(manager.messages)
    asked = time.monotonic() * 1e6
    daemon.reload({"consul": "off", "checks": [script("a", "exit 0"), script("b", "exit 0")]})
    told = manager.wait("RELOADING=1\nMONOTONIC_USEC=[0-9]+", after=begin)
    assert asked <= int(told.rpartition("=")[2]) <= time.monotonic() * 1e6
    manager.wait("READY=1", after=begin)
    manager.wait("STATUS=2 checks: 2 passing; no agent", after=begin)

    begin = len(manager.messages)
    daemon.reload("checks: {}")
    manager.wait("READY=1", after=begin)
    manager.wait("STATUS=2 checks: 2 passing; no agent; not reloaded: .*probity.yaml:1:.*",
                 after=begin)
    begin = len(manager.messages)
    daemon.reload(config)
    manager.wait("STATUS=1 check: 1 passing; no agent", after=begin)


def test_the_watchdog_is_fed_while_the_loop_turns(lab):
    manager, daemon = start(lab, {
        "consul": "off",
        # Its tree is killed after each run: late verdicts would show.
        "checks": [{**script("slow", "sleep 60"), "timeout": "200ms"}, script("a", "exit 0")]},
        WATCHDOG_USEC=str(WATCHDOG * 1000000))
    daemon.start()
    manager.wait("WATCHDOG=1")
    wait_for(lambda: len(manager.texts("WATCHDOG=1")) >= 8, 3 * WATCHDOG, step=0.005,
             what="it to be fed four times in its time")
    times = [at for at, text in manager.messages if text == "WATCHDOG=1"]
    assert max(b - a for a, b in zip(times, times[1:])) < WATCHDOG / 2 + TOLERANCE

    daemon.signal(signal.SIGSTOP)
    manager.read()
    begin = len(manager.messages)
    time.sleep(WATCHDOG)
    assert not manager.texts("WATCHDOG=1", after=begin)
    daemon.signal(signal.SIGCONT)
    # What stood open across the stop is no reproach: it goes on at once.
    manager.wait("WATCHDOG=1", after=begin, timeout=WATCHDOG)


def test_a_manager_that_reads_no_more_holds_up_nobody(lab):
    manager, daemon = start(lab, {"consul": "off", "checks": [script("a", "exit 0")]},
                            WATCHDOG_USEC="20000")
    daemon.start()
    manager.wait("READY=1")
    # At 200 messages a second the queue is long full: net.unix.max_dgram_qlen is 512 at most.
    queue = int(open("/proc/sys/net/unix/max_dgram_qlen", encoding="ascii").read())
    time.sleep(min(queue, 512) / 200 + 1)
    before = daemon.check("a")["runs"]
    wait_for(lambda: daemon.check("a")["runs"] >= before + 2, 5, what="runs to go on")
    daemon.signal(signal.SIGHUP)
    wait_for(lambda: daemon.status()["reloads"] == 1, 5, what="a reload")
    manager.read()
    begin = len(manager.messages)
    manager.wait("WATCHDOG=1", after=begin)
    # Ready after the reload was owed, if it was lost.
    assert "READY=1" in [text for _, text in manager.messages[1:]]
    assert os.stat(manager.path)
