#!/bin/bash
# SPDX-License-Identifier: MIT
# Shows what Probity is for: installs what is needed, builds, and lets a web service freeze.
set -euo pipefail
cd "$(dirname "$0")/.."

tests/install.sh
mkdir -p build
if ! { cmake --preset release && cmake --build --preset release --target probity -j "$(nproc)"; } \
	>build/demo.log 2>&1; then
	cat build/demo.log >&2
	exit 1
fi
CONSUL=$(tests/consul.sh)
export CONSUL PROBITY="$PWD/build/release/probity" PROBITY_BUILD="$PWD/build/release"
exec /usr/bin/python3 -B tests/demo.py
