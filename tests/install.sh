#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs on Debian 12 what building and testing need; quick where nothing is missing.
set -euo pipefail

packages=(
	# To build.
	cmake ninja-build gcc libc6-dev pkg-config
	libcurl4-openssl-dev libev-dev libyaml-dev libpcre2-dev libjansson-dev libc-ares-dev
	libmicrohttpd-dev libsystemd-dev libssl-dev libhiredis-dev libpq-dev libmariadb-dev
	# To test.
	libcmocka-dev clang clang-tidy clang-format libclang-rt-14-dev valgrind ccache python3
	python3-pytest python3-jsonschema python3-yaml nginx-light monitoring-plugins-basic openssl procps ca-certificates
	debian-archive-keyring systemd systemd-container debootstrap
	# What the examples are run against.
	exim4-daemon-light dovecot-imapd memcached rabbitmq-server openssh-server
	# What the probes of dependencies are run against, and what is compared with them.
	redis-server redis-tools bind9 bind9-dnsutils python3-grpcio postgresql-15 postgresql-client-15
	mariadb-server mariadb-client
)

missing=()
for package in "${packages[@]}"; do
	if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
		missing+=("$package")
	fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}"
if [ "$(id -u)" -ne 0 ]; then
	echo "install.sh: run as root, or install these" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# Only the files are wanted, not a web server on port 80: systemctl (offline) and invoke-rc.d (run
# level 1) start nothing.
SYSTEMD_OFFLINE=1 RUNLEVEL=1 apt-get -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
