// SPDX-License-Identifier: MIT
/* Gives each file of the folders that are named to a fuzzer's function, without libFuzzer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/arena.h"
#include "fuzz.h"

/* Far above any file of a corpus. */
#define LONGEST (2 * 1024 * 1024)

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay(const char *folder, const char *name)
{
	char *path = xprintf("%s/%s", folder, name);
	FILE *stream = fopen(path, "rbe");
	uint8_t *bytes = xcalloc(LONGEST, 1);
	size_t length;

	if (stream == NULL) {
		perror(path);
		return EXIT_FAILURE;
	}
	length = fread(bytes, 1, LONGEST, stream);
	(void)fclose(stream);
	/* Before it runs, so that the last line names what crashed. */
	(void)printf("%s\n", path);
	(void)fflush(stdout);
	/* Of its own size, so that a sanitizer sees what is read past its end. */
	bytes = xrealloc(bytes, length, 1);
	(void)LLVMFuzzerTestOneInput(bytes, length);
	free(bytes);
	free(path);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int files = 0, result = EXIT_SUCCESS;

	for (int i = 1; i < argc; i++) {
		struct dirent **entries;
		int count = scandir(argv[i], &entries, is_file, alphasort);

		if (count < 0) {
			perror(argv[i]);
			return EXIT_FAILURE;
		}
		for (int j = 0; j < count; j++) {
			if (replay(argv[i], entries[j]->d_name) != EXIT_SUCCESS)
				result = EXIT_FAILURE;
			free(entries[j]);
			files++;
		}
		free(entries);
	}
	return files == 0 ? EXIT_FAILURE : result;
}
