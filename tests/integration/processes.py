# SPDX-License-Identifier: MIT
"""Waiting, and what /proc says of a process; everything is ended by its pid."""
import ctypes
import os
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36

_started = set()  # pids of start_process() that have not been ended


def wait_for(predicate, timeout=5, step=0.02, what="it"):
    """The first true value of predicate(); AssertionError after `timeout` seconds.

    what: a text, or a function that makes one at the moment of failure.
    """
    end = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > end:
            text = what() if callable(what) else what
            raise AssertionError(f"waited {timeout} s for {text}")
        time.sleep(step)


def holds(predicate, seconds, step=0.05, what="it"):
    """Asserts that predicate() is true all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not predicate():
            raise AssertionError(f"did not hold: {what() if callable(what) else what}")
        time.sleep(step)


def settled(value, seconds=0.3, timeout=5, step=0.05):
    """Waits until value() has stayed equal for `seconds` and returns it."""
    end = time.monotonic() + timeout
    last, since = value(), time.monotonic()
    while time.monotonic() - since < seconds:
        if time.monotonic() > end:
            raise AssertionError(f"never settled: {last}")
        time.sleep(step)
        now = value()
        if now != last:
            last, since = now, time.monotonic()
    return last


def adopt_orphans():
    """Makes this process the parent of what a killed child leaves behind, so that it can be ended."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def start_process(command, **popen):
    """A Popen that end_strays() leaves alone."""
    process = subprocess.Popen(command, **popen)
    _started.add(process.pid)
    return process


def end_process(process, sign=signal.SIGTERM, timeout=5):
    """Ends a Popen, by force where it does not want to; returns its exit code."""
    if process.poll() is None:
        process.send_signal(sign)
        # Only where it is stopped: a SIGCONT takes away the SIGSTOP with which the leak check
        # of a sanitizer holds its own process, and both then wait for ever.
        if sign != signal.SIGKILL and state(process.pid) == "T":
            process.send_signal(signal.SIGCONT)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    _started.discard(process.pid)
    return process.returncode


def _stat(pid):
    """The fields of /proc/PID/stat from the state on; None where it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return None


def state(pid):
    """One letter, as Z for a zombie; None where there is no such process."""
    fields = _stat(pid)
    return fields[0] if fields else None


def alive(pid):
    return state(pid) not in (None, "Z", "X")


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = _stat(entry)
            if fields and int(fields[1]) == pid:
                found.append(int(entry))
    return found


def descendants(pid):
    found, queue = [], [pid]
    while queue:
        for child in children(queue.pop()):
            found.append(child)
            queue.append(child)
    return found


def zombies(pid):
    return [child for child in children(pid) if state(child) == "Z"]


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def cpu_seconds(pid):
    """User and system time, without children."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_kib(pid, field="RssAnon"):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise AssertionError(f"no {field}")


def environment(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            return environ.read().split(b"\0")
    except OSError:
        return []


def end_strays():
    """Kills the orphans that this process has adopted, with all below them."""
    for orphan in children(os.getpid()):
        if orphan in _started:
            continue
        for pid in [*descendants(orphan), orphan]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.waitpid(orphan, 0)
        except ChildProcessError:
            pass
