#include "cmd/result_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static void put(const void *context, struct writer *out)
{
	writer_puts(out, context);
}

TEST("a result goes into the named file, whose old content it replaces, or to stdout")
{
	char folder[] = "/tmp/perfuse-result-XXXXXX", path[64], text[64] = { 0 };
	struct error err = { 0 };
	struct writer out;
	EXPECT(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/result", folder);
	FILE *shown = tmpfile();
	EXPECT(shown != NULL);
	writer_open(&out, fileno(shown), 64);
	struct cli cli = { .out = &out };
	EXPECT_INT(result_file_write(&cli, path, put, "a long first text", &err), 0);
	EXPECT_INT(result_file_write(&cli, path, put, "second", &err), 0);
	EXPECT_INT(result_file_write(&cli, "-", put, "third", &err), 0);
	EXPECT_INT(writer_flush(&out, NULL), 0);
	FILE *file = fopen(path, "re");
	EXPECT(file != NULL);
	EXPECT_INT(fread(text, 1, sizeof text, file), 6);
	EXPECT_STR(text, "second");
	fclose(file);
	memset(text, 0, sizeof text);
	rewind(shown);
	EXPECT_INT(fread(text, 1, sizeof text, shown), 5);
	EXPECT_STR(text, "third");
	fclose(shown);
	unlink(path);
	rmdir(folder);
	EXPECT(result_file_write(&cli, path, put, "no folder", &err) < 0 && strstr(err.text, path));
	writer_fini(&out);
}
