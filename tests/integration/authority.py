# SPDX-License-Identifier: MIT
"""A certificate authority made on the spot with openssl, and certificates of all kinds."""
import collections
import subprocess
from pathlib import Path

Pair = collections.namedtuple("Pair", "certificate key")

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def _openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments}: {done.stderr}")


class Authority:
    """`file` is what clients trust; issue() makes a server certificate."""

    def __init__(self, folder, name="Lab CA"):
        self.folder = Path(folder)
        self.file = self.folder / "ca.pem"
        self.key = self.folder / "ca.key"
        self.number = 0
        _openssl("req", "-x509", *CURVE, "-keyout", self.key, "-out", self.file, "-days", 2,
                 "-subj", f"/CN={name}", "-addext", "keyUsage=critical,keyCertSign")

    def issue(self, *names, days=1, usage=None):
        """A Pair for the names (DNS:web, IP:127.0.0.1); days=-1: expired since yesterday.

        usage: what it may be used for, such as clientAuth.
        """
        self.number += 1
        stem = self.folder / f"server{self.number}"
        request, key, certificate, extensions = (
            stem.with_suffix(suffix) for suffix in (".csr", ".key", ".pem", ".ext"))
        extensions.write_text(f"subjectAltName={','.join(names)}\n"
                              + (f"extendedKeyUsage={usage}\n" if usage else ""))
        _openssl("req", *CURVE, "-keyout", key, "-out", request, "-subj", "/CN=lab")
        _openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key,
                 "-set_serial", self.number, "-days", days, "-extfile", extensions,
                 "-out", certificate)
        return Pair(certificate, key)
