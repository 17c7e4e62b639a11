#include "os/written_file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "os/file.h"
#include "os/test_child.h"
#include "unit.h"

struct box {
	char folder[64], path[80];
};

static void box_open(struct box *box)
{
	strcpy(box->folder, "/tmp/perfuse-written-XXXXXX");
	EXPECT(mkdtemp(box->folder));
	snprintf(box->path, sizeof box->path, "%s/file", box->folder);
}

static size_t box_close(struct box *box)
{
	struct names names = { 0 };
	EXPECT(folder_names(box->folder, &names, NULL) == 0);
	size_t count = names.list.count;
	names_fini(&names);
	unlink(box->path);
	EXPECT(rmdir(box->folder) == 0);
	return count;
}

static int write_text(const char *path, const char *text, struct error *err)
{
	struct written_file file;
	if (written_open(&file, path, err) < 0)
		return -1;
	writer_puts(&file.out, text);
	int result = written_keep(&file, path, err);
	written_drop(&file);
	return result;
}

TEST("a written file replaces the one before when it is complete")
{
	struct box box;
	char line[64] = "";
	box_open(&box);
	EXPECT(write_text(box.path, "old\n", NULL) == 0);
	EXPECT(write_text(box.path, "new\n", NULL) == 0);
	EXPECT(file_line(box.path, line, sizeof line));
	EXPECT_STR(line, "new");
	EXPECT_INT(box_close(&box), 1);
}

static int write_beyond_limit(void *context)
{
	struct error err = { 0 };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 3, 3 });
	return write_text(context, "new, and longer\n", &err) < 0 && strstr(err.text, context) && strstr(err.text, "File too large");
}

TEST("a failed write leaves the existing file unchanged and no temporary file, and names the file")
{
	struct box box;
	char line[64] = "";
	box_open(&box);
	EXPECT(write_text(box.path, "old\n", NULL) == 0);
	EXPECT_INT(in_child(write_beyond_limit, box.path, 0, 0), 1);
	EXPECT(file_line(box.path, line, sizeof line));
	EXPECT_STR(line, "old");
	EXPECT_INT(box_close(&box), 1);
}

TEST("a device is written in place, and a full device is reported")
{
	struct error err = { 0 };
	EXPECT(write_text("/dev/null", "new\n", &err) == 0);
	EXPECT(write_text("/dev/full", "new\n", &err) < 0);
	EXPECT_STR(err.text, "cannot write /dev/full: No space left on device");
}
