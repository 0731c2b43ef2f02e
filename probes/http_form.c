// SPDX-License-Identifier: MIT
/* Bodies of requests that are forms: encoded with the secrets of the moment. */
#include "probes/http_body.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/arena.h"
#include "probes/secret.h"

/* Appends a part; `to` has room for three bytes for each of it. Returns the new end. */
static char *encode(char *to, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (isalnum(byte) || strchr("*-._", byte) != NULL) {
			*to++ = (char)byte;
		} else if (byte == ' ') {
			*to++ = '+';
		} else {
			*to++ = '%';
			*to++ = digits[byte >> 4];
			*to++ = digits[byte & 15];
		}
	}
	return to;
}

/* "a=b&c=d" with one more pair; wipes and frees both parts. */
static char *add_pair(char *take_form, const char *name, char *take_value)
{
	size_t length = strlen(take_form), value = take_value == NULL ? 0 : strlen(take_value);
	char *form = xcalloc(length + 3 * (strlen(name) + value) + 3, 1);
	char *end = stpcpy(form, take_form);

	if (length > 0)
		*end++ = '&';
	end = encode(end, name);
	*end++ = '=';
	(void)encode(end, take_value == NULL ? "" : take_value);
	secret_free(take_form);
	secret_free(take_value);
	return form;
}

char *http_form_encode(const struct conf_pairs *form, char **ret_error)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < form->count; i++) {
		char *error = NULL;
		char *value = secret_read(&form->items[i].value, &error);

		if (value == NULL && error != NULL) {
			*ret_error = xprintf("form %s: %s", form->items[i].name, error);
			free(error);
			secret_free(text);
			return NULL;
		}
		text = add_pair(text, form->items[i].name, value);
	}
	return text;
}
