# SPDX-License-Identifier: MIT
"""A real nginx on loopback, as HTTP and TLS target."""
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from processes import end_process, start_process, wait_for

CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 512; }}
http {{
    access_log off;
    default_type text/plain;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""


def _binary():
    found = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise AssertionError("nginx is missing")
    return found


class Nginx:
    """servers: text of `server {...}` blocks; ports: those they listen on, awaited."""

    def __init__(self, folder, servers, ports):
        self.folder = Path(folder)
        config = self.folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=self.folder, servers=servers))
        self.errors = self.folder / "errors"
        with self.errors.open("wb") as errors:
            self.process = start_process([_binary(), "-p", str(self.folder), "-c", str(config)],
                                         stdout=subprocess.DEVNULL, stderr=errors,
                                         stdin=subprocess.DEVNULL)
        for port in ports:
            wait_for(lambda port=port: self._listens(port), 10,
                     what=lambda: f"nginx: {self.errors.read_text()}")

    def _listens(self, port):
        if self.process.poll() is not None:
            raise AssertionError(f"nginx ended: {self.errors.read_text()}")
        with socket.socket() as look:
            return look.connect_ex(("127.0.0.1", port)) == 0

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        end_process(self.process, signal.SIGTERM)
