/* SPDX-License-Identifier: MIT */
/* tests/fuzz/fuzz.h: what libFuzzer calls, and what replay.c calls in its place. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input. Returns 0; aborts where something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* As assert(), but there whatever the build says. */
#define FUZZ_HOLDS(condition) ((condition) ? (void)0 : __builtin_trap())

#endif
