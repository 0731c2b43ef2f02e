#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs what is needed, builds with gcc, clang and the sanitizers, and runs every test.
# `tests/run.sh full` adds what takes long: fuzzing, valgrind on every unit test, the bench.
set -uo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"" | full) mode=${1:-quick} ;;
*)
	echo "usage: tests/run.sh [full]" >&2
	exit 2
	;;
esac

fuzz_seconds=60 # for each fuzzer, in a full run
jobs=$(nproc)
failures=()
table=()

# note NAME RESULT BEGIN: a line of the summary.
note() {
	table+=("$(awk -v n="$1" -v r="$2" -v b="$3" -v e="$EPOCHREALTIME" \
		'BEGIN { printf "%-22s %-7s %6.1f s", n, r, e - b }')")
	[ "$2" = ok ] || failures+=("$1")
}

# step NAME COMMAND...: runs it and keeps its result and time for the summary.
step() {
	local name=$1 begin=$EPOCHREALTIME result=ok
	shift
	echo "== $name"
	"$@" || result=FAILED
	note "$name" "$result" "$begin"
	[ "$result" = ok ]
}

summary() {
	echo
	printf '%s\n' "${table[@]}"
	if [ -f build/release/episodes.txt ]; then
		echo
		cat build/release/episodes.txt
	fi
	[ ${#failures[@]} -eq 0 ] || echo "failed: ${failures[*]}"
}

# build PRESET [OPTION...]: configures where needed and builds all.
build() {
	local preset=$1
	shift
	local options=(-DPROBITY_WERROR=ON "$@")
	if command -v ccache >/dev/null; then
		options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
	fi
	cmake --preset "$preset" "${options[@]}" >"build/$preset.log" 2>&1 || {
		cat "build/$preset.log"
		return 1
	}
	# ninja's own lines only where something is wrong.
	cmake --build --preset "$preset" -j "$jobs" >"build/$preset.log" 2>&1 || {
		grep -v '^\[[0-9]*/[0-9]*\] [BCL]' "build/$preset.log" | tail -n 100
		return 1
	}
}

# Most tests wait for something most of the time; more of them at once are late for one another.
run_tests() {
	ctest --test-dir build/ctest -j $((jobs + 1)) --output-on-failure --no-tests=error 2>&1 |
		tee build/ctest.out
}

lint() {
	build clang "${clang_options[@]}" && tests/lint.py tidy build/clang
}

trap 'jobs -p | xargs -r kill 2>/dev/null' EXIT
mkdir -p build
: >build/ctest.out
step install tests/install.sh || { summary && exit 1; }
# Beside the build, which it does not slow down: the network is what takes the time.
tests/consul.sh >build/consul.path 2>build/consul.log &
fetching=$!
planting=$fetching
if [ "$(id -u)" -eq 0 ]; then # as nobody else may boot it
	tests/systemd_tree.sh >/dev/null 2>build/systemd-tree.log &
	planting=$!
fi
step "build release" build release || { summary && exit 1; }
step "build sanitize" build sanitize
wait "$fetching" || {
	cat build/consul.log
	failures+=("fetch consul")
}
wait "$planting" || {
	cat build/systemd-tree.log
	failures+=("make a tree of systemd")
}
CONSUL=$(cat build/consul.path)
export CONSUL
step clang-format tests/lint.py format

clang_options=(-DPROBITY_FUZZ=OFF)
# The sanitizers find what valgrind finds, faster. What does not depend on the build runs once.
exclude='^(release\.unit_.*_valgrind|sanitize\.integration_(lab|layers|load|readme|systemd|systemd_units))$'
if [ "$mode" = full ]; then
	clang_options=(-DPROBITY_FUZZ=ON "-DFUZZ_SECONDS=$fuzz_seconds")
	exclude='^$'
	export PROBITY_FULL=1
fi
# In the time that the tests leave unused.
begin=$EPOCHREALTIME
(
	renice -n 19 "$BASHPID" >/dev/null
	lint
) >build/lint.log 2>&1 &
linting=$!
if step "test list" tests/merge_tests.py build/ctest --exclude "$exclude" \
	release=build/release sanitize=build/sanitize; then
	step tests run_tests
fi
if wait "$linting"; then
	note "clang, clang-tidy" ok "$begin"
else
	note "clang, clang-tidy" FAILED "$begin"
	cat build/lint.log
fi

if [ "$mode" = full ]; then
	step fuzz cmake --build --preset clang --target fuzz
	step bench tests/bench/run.py --build build/release
	step "bench agent" tests/bench/agent.py --build build/release
fi

summary
grep 'tests passed' build/ctest.out
[ ${#failures[@]} -eq 0 ]
