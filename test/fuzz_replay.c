/* Runs a fuzz target over every file of the folders (or files) named: the corpus as an ordinary test. One line a folder. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return -1;
	struct stat st;
	if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
		fclose(file);
		return 0;
	}
	/* exactly as large as the input, so that a sanitizer sees each byte read beyond it */
	uint8_t *data = malloc((size_t)st.st_size ? (size_t)st.st_size : 1);
	size_t size = fread(data, 1, (size_t)st.st_size, file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

static int replay_folder(const char *path)
{
	DIR *dir = opendir(path);
	if (!dir)
		return replay_file(path);
	int count = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char name[4096];
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		int n = entry->d_name[0] == '.' ? 0 : replay_file(name);
		count += n > 0;
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	int inputs = 0;
	for (int i = 1; i < argc; i++) {
		int n = replay_folder(argv[i]);
		inputs += n > 0 ? n : 0;
	}
	printf("%s corpus of %d inputs (%s)\n", inputs ? "ok" : "not ok", inputs, argv[0]);
	return inputs == 0;
}
