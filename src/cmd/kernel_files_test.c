#include "cmd/kernel_files.h"

#include "image/test_folder.h"

TEST("a recording that is a folder brings the kernel's files that can be read in it")
{
	struct folder f;
	struct kernel_files files;
	struct source source = { 0 };
	char want[PATH_MAX];
	folder_open(&f);
	folder_write(&f, "kcore_dir/kallsyms", "x", 1);
	kernel_files_find(&files, &source, f.root);
	EXPECT_STR(files.kallsyms, "");
	source.header.directory = true;
	kernel_files_find(&files, &source, f.root);
	snprintf(want, sizeof want, "%s/kcore_dir/kallsyms", f.root);
	EXPECT_STR(files.kallsyms, want);
	EXPECT_STR(files.kcore, "");
	folder_close(&f);
}

TEST("a path that is one byte too long is not taken for the file of the shorter name")
{
	struct folder f;
	struct kernel_files files;
	struct source source = { .header.directory = true };
	char path[PATH_MAX + 1];
	folder_open(&f);
	folder_write(&f, "kcore_dir/kcor", "x", 1);
	memset(path, '/', sizeof path);
	memcpy(path, f.root, strlen(f.root));
	path[PATH_MAX - strlen("/kcore_dir/kcore")] = '\0';
	kernel_files_find(&files, &source, path);
	EXPECT_STR(files.kcore, "");
	folder_write(&f, "kcore_dir/kcore", "x", 1);
	path[PATH_MAX - 1 - strlen("/kcore_dir/kcore")] = '\0';
	kernel_files_find(&files, &source, path);
	EXPECT_INT(strlen(files.kcore), PATH_MAX - 1);
	folder_close(&f);
}

TEST("the user's list of kernel symbols comes first, then no list for a vmlinux, then the recording's")
{
	struct kernel_files files = { .kallsyms = "own" };
	EXPECT_STR(kernel_files_kallsyms(&files, NULL, NULL), "own");
	EXPECT_STR(kernel_files_kallsyms(&files, "named", "vmlinux"), "named");
	EXPECT(kernel_files_kallsyms(&files, NULL, "vmlinux") == NULL);
}

TEST("files that the user names have to be readable")
{
	struct error err = { 0 };
	EXPECT_INT(kernel_files_check(NULL, NULL, &err), 0);
	EXPECT_INT(kernel_files_check("/dev/null", "/dev/null", &err), 0);
	EXPECT(kernel_files_check("/dev/null", "/dev/null/absent", &err) < 0);
	EXPECT(strstr(err.text, "cannot read '/dev/null/absent'") != NULL);
	EXPECT(kernel_files_check("/dev/null/absent", NULL, &err) < 0);
}
