#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the path of a Consul binary: $CONSUL, the one in PATH, or Debian's package of it,
# fetched once into the build folder (nothing is installed).
set -euo pipefail

if [ -n "${CONSUL:-}" ]; then
	echo "$CONSUL"
	exit
fi
if command -v consul; then
	exit
fi

top=$(cd "$(dirname "$0")/.." && pwd)
cache=${PROBITY_CACHE:-$top/build/consul}
if [ -x "$cache/consul" ]; then
	echo "$cache/consul"
	exit
fi

# bookworm has no such package; the release before has, and the mirror in use serves both.
mirror=$(apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
	sed -n 's/^Debian|bookworm|//p' | sort -u | head -n 1)
if [ -z "$mirror" ]; then
	echo "consul.sh: apt knows no mirror of Debian bookworm; set CONSUL" >&2
	exit 1
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" \
	>"$work/sources.list"
# Apt's state lies in the folder, so that the machine's own is untouched.
options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=-
	-o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
for attempt in 1 2 3; do
	if (cd "$work" && apt-get "${options[@]}" -qq update >&2 &&
		apt-get "${options[@]}" -qq download consul >&2); then
		break
	fi
	[ "$attempt" -lt 3 ] || exit 1
	sleep 2
done
dpkg -x "$work"/consul_*.deb "$work/package"
# Renaming is atomic: two that run at once both end with a whole file.
mv "$work/package/usr/bin/consul" "$cache/consul"
echo "$cache/consul"
