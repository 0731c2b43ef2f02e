# SPDX-License-Identifier: MIT
"""The measuring target and what its notes say; used by the bench and by timed tests."""
import mmap
import os
import socket
import struct
import subprocess
import time

RECORD = struct.Struct("dII")
HEAD = 16  # bytes before the first record


class Target:
    """A bench_target process. Check n asks for /n."""

    def __init__(self, binary, folder, core=None):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.path = os.path.join(folder, "target.log")
        self.process = subprocess.Popen([str(binary), str(self.port), self.path])
        if core is not None:
            os.sched_setaffinity(self.process.pid, {core})
        end = time.monotonic() + 5
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.02)
        self.file = open(self.path, "rb")
        self.map = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def count(self):
        return struct.unpack_from("Q", self.map, 0)[0]

    def records(self, first=0):
        """(time, check, connections so far) of each request."""
        last = self.count()
        return list(RECORD.iter_unpack(self.map[HEAD + first * RECORD.size:
                                                HEAD + last * RECORD.size]))

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.map.close()
        self.file.close()
        os.unlink(self.path)


def by_check(records):
    """check -> times of its requests."""
    times = {}
    for at, check, _ in records:
        times.setdefault(check, []).append(at)
    return times


def lateness(records, interval):
    """How much longer than the interval each gap was, sorted; negative where it was shorter."""
    return sorted(later - earlier - interval for times in by_check(records).values()
                  for earlier, later in zip(times, times[1:]))


def percentile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def cpu_ns(pid):
    """CPU time of all threads in ns; the ticks of /proc/PID/stat are too coarse for short runs."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total


def memory_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0
