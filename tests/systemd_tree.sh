#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the path of a small Debian with systemd, D-Bus and busybox to boot in a container. It is
# made once, in the build folder or in $PROBITY_TREE, and only read after that. Needs root.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cache=${PROBITY_TREE:-$top/build/systemd-tree}
packages=systemd,dbus,busybox
# Another list makes another tree.
tree=$cache/$(echo "bookworm $packages" | sha256sum | cut -c 1-12)

mkdir -p "$cache"
# Several builds want it at the same moment; one makes it, the others wait.
exec 9>"$cache/lock"
flock 9
if [ -d "$tree" ]; then
	echo "$tree"
	exit
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "systemd_tree.sh: only root can make the tree" >&2
	exit 1
fi

mirror=$(apt-get indextargets --format '$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 'Created-By: Packages' |
	sed -n 's/^Debian|bookworm|//p' | sort -u | head -n 1)
if [ -z "$mirror" ]; then
	echo "systemd_tree.sh: apt knows no mirror of Debian bookworm" >&2
	exit 1
fi
# debootstrap fetches by itself and knows nothing of apt's proxy.
eval "$(apt-config shell proxy Acquire::http::Proxy)"
if [ -n "${proxy:-}" ] && [ "$proxy" != DIRECT ]; then
	export http_proxy=$proxy
fi

work=$(mktemp -d "$cache/making.XXXXXX")
trap 'rm -rf "$work"' EXIT
for attempt in 1 2 3; do
	if debootstrap --variant=minbase --include="$packages" \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		bookworm "$work/tree" "$mirror" >"$work/log" 2>&1; then
		break
	fi
	if [ "$attempt" -eq 3 ]; then
		tail -n 20 "$work/log" "$work/tree/debootstrap/debootstrap.log" >&2 || true
		exit 1
	fi
	rm -rf "$work/tree"
	sleep 2
done
rm -rf "$work"/tree/var/cache/apt/* "$work"/tree/var/lib/apt/lists/* \
	"$work"/tree/usr/share/{doc,info,locale,man}/*
# As a container's is: made anew at each boot.
: >"$work/tree/etc/machine-id"
chmod 755 "$work/tree"
# Renaming is atomic: a tree that is there is whole.
mv "$work/tree" "$tree"
echo "$tree"
