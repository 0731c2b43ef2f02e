/* SPDX-License-Identifier: MIT */
/* probes/secret.h: the value of a secret at this moment. */
#ifndef PROBES_SECRET_H
#define PROBES_SECRET_H

#include "config/field.h"

#define SECRET_MAX 65536 /* bytes of a secret file; a JWT with many claims is under 16 KiB */

/*
 * Returns prefix and value, newly allocated; secret_free() wipes and frees it. A
 * value from a file is read now (so a rotated file counts from the next run),
 * without its trailing newlines. On failure NULL, and *ret_error is one line
 * that names the file and the cause, never the value (free()). An absent
 * secret (no value, no file) is NULL with *ret_error NULL.
 */
char *secret_read(const struct conf_secret *secret, char **ret_error);
void secret_free(char *value); /* accepts NULL */

/*
 * The bytes with *** for each occurrence of the secret, and a NUL behind them; a secret of
 * NULL or "" is in none. *length is that of the bytes, then of the result. free().
 */
char *secret_hide(const char *secret, const char *bytes, size_t *length);

#endif
