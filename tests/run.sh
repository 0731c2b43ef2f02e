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

fuzz_seconds=300 # for all fuzzers together, in a full run
jobs=$(nproc)
failures=()
table=()

# step NAME COMMAND...: runs it and keeps its result and time for the summary.
step() {
	local name=$1 begin=$EPOCHREALTIME result=ok
	shift
	echo "== $name"
	if ! "$@"; then
		result=FAILED
		failures+=("$name")
	fi
	table+=("$(awk -v n="$name" -v r="$result" -v b="$begin" -v e="$EPOCHREALTIME" \
		'BEGIN { printf "%-22s %-7s %6.1f s", n, r, e - b }')")
	[ "$result" = ok ]
}

summary() {
	echo
	printf '%s\n' "${table[@]}"
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

fuzz() {
	local fuzzers=(build/clang/tests/fuzz/fuzz_*) each name
	local share=$((fuzz_seconds * jobs / ${#fuzzers[@]}))
	local result=0
	for each in "${fuzzers[@]}"; do
		[ -x "$each" ] || continue
		name=${each##*/fuzz_}
		mkdir -p "build/fuzz/$name"
		echo "$name"
		"$each" -max_total_time=$share -jobs=$jobs -workers=$jobs -artifact_prefix=build/fuzz/ \
			"build/fuzz/$name" "tests/fuzz/corpus/$name" >/dev/null 2>"build/fuzz/$name.log" ||
			{ tail -n 30 "build/fuzz/$name.log" && result=1; }
	done
	return $result
}

run_tests() {
	ctest --test-dir build/ctest -j "$jobs" --output-on-failure --no-tests=error 2>&1 |
		tee build/ctest.out
}

mkdir -p build
: >build/ctest.out
step install tests/install.sh || { summary && exit 1; }
# Beside the build, which it does not slow down: the network is what takes the time.
tests/consul.sh >build/consul.path 2>build/consul.log &
fetching=$!
step "build release" build release || { summary && exit 1; }
step "build sanitize" build sanitize
step "build clang" build clang
wait "$fetching" || {
	cat build/consul.log
	failures+=("fetch consul")
}
CONSUL=$(cat build/consul.path)
export CONSUL
step clang-format tests/lint.py format
step clang-tidy tests/lint.py tidy build/clang

# The sanitizers find what valgrind finds, faster.
exclude='^release\.unit_.*_valgrind$'
[ "$mode" = quick ] || exclude='^$'
if step "test list" tests/merge_tests.py build/ctest --exclude "$exclude" \
	release=build/release sanitize=build/sanitize; then
	step tests run_tests
fi

if [ "$mode" = full ]; then
	step fuzz fuzz
	step bench tests/bench/run.py --build build/release
fi

summary
grep 'tests passed' build/ctest.out
[ ${#failures[@]} -eq 0 ]
