#include "image/mapped_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/file.h"
#include "image/test_folder.h"
#include "os/process.h"
#include "unit.h"

enum { SIZE = 4096 };

/* Creates a file that contains this letter, and maps it into this process. */
static void *map_file(struct folder *f, const char *name, char letter, struct mapped_identity *identity)
{
	char text[SIZE];
	struct stat st;
	memset(text, letter, sizeof text);
	int fd = open(folder_write(f, name, text, sizeof text), O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0 && fstat(fd, &st) == 0);
	*identity = (struct mapped_identity){ .maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino };
	void *at = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE, fd, 0);
	EXPECT(at != MAP_FAILED);
	close(fd);
	return at;
}

/* The first letter of the file; 0 if it cannot be read. */
static char letter_of(int fd)
{
	char letter = 0;
	if (fd < 0)
		return 0;
	EXPECT_INT(pread(fd, &letter, 1, 0), 1);
	close(fd);
	return letter;
}

static int visit(void *context, const struct process_map *map)
{
	const struct mapped_identity *identity = context;
	return map->ino == identity->ino && map->maj == identity->maj && map->min == identity->min ? -1 : 0;
}

/* Returns whether stat reports the same device as mappings: on some file systems it does not. */
static bool is_told(struct mapped_identity *identity)
{
	bool late;
	return process_maps(getpid(), 0, &late, visit, identity, NULL) < 0;
}

static bool may_open(void)
{
	return access("/proc/self/map_files", R_OK | X_OK) == 0 && geteuid() == 0;
}

TEST("a mapped file is opened after its path is deleted or leads to another file, and never another file")
{
	struct folder f;
	struct mapped_identity identity;
	folder_open(&f);
	void *at = map_file(&f, "a", 'a', &identity);
	if (!is_told(&identity)) {
		folder_close(&f);
		return;
	}
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &identity)), 'a');
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), -1, &identity)), 'a');
	folder_write(&f, "b", "b", 1);
	char from[64];
	strcpy(from, folder_path(&f, "b"));
	EXPECT_INT(rename(from, folder_path(&f, "a")), 0);
	char found = letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &identity));
	EXPECT(found == 'a' || (found == 0 && !may_open()));
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), -1, &identity)), 0); /* surely another file */
	EXPECT_INT(unlink(folder_path(&f, "a")), 0);
	found = letter_of(mapped_file_open(getpid(), &identity));
	EXPECT(found == 'a' || (found == 0 && !may_open()));
	munmap(at, SIZE);
	EXPECT_INT(mapped_file_open(getpid(), &identity), -1);
	EXPECT_INT(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &identity), -1);
	folder_close(&f);
}

TEST("a file that has a deleted file's inode number is another file")
{
	struct folder f;
	struct mapped_identity identity;
	uint32_t generation[2] = { 0 };
	folder_open(&f);
	void *at = map_file(&f, "a", 'a', &identity);
	int fd = open(folder_path(&f, "a"), O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0);
	if (ioctl(fd, FS_IOC_GETVERSION, generation) == 0 && generation[0] && is_told(&identity)) {
		identity.generation = generation[0];
		EXPECT_INT(mapped_file_is(fd, &identity), 1);
		identity.generation ^= 1;
		EXPECT_INT(mapped_file_is(fd, &identity), -1);
		EXPECT_INT(mapped_file_or_path(-1, folder_path(&f, "a"), -1, &identity), -1);
	}
	close(fd);
	munmap(at, SIZE);
	folder_close(&f);
}

TEST("without an identity only the path is used")
{
	struct folder f;
	struct mapped_identity none = { 0 };
	folder_open(&f);
	folder_write(&f, "a", "a", 1);
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &none)), 'a');
	EXPECT_INT(mapped_file_open(getpid(), &none), -1);
	EXPECT_INT(mapped_file_or_path(-1, folder_path(&f, "b"), getpid(), &none), -1);
	folder_close(&f);
}

TEST("the program of a process is opened also through /proc/PID/exe")
{
	struct stat st, opened;
	EXPECT_INT(stat("/proc/self/exe", &st), 0);
	struct mapped_identity identity = { .maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino };
	int fd = mapped_file_open(getpid(), &identity);
	/* some file systems report another device in mappings than in stat */
	if (fd >= 0) {
		EXPECT(fstat(fd, &opened) == 0 && opened.st_ino == st.st_ino && opened.st_dev == st.st_dev);
		close(fd);
	}
	EXPECT_INT(mapped_file_open(getpid(), &(struct mapped_identity){ .maj = identity.maj, .min = identity.min, .ino = UINT64_MAX }), -1);
}

TEST("a file is opened by the addresses of its mapping, and no other file mapped there")
{
	struct folder f;
	struct mapped_identity identity;
	folder_open(&f);
	uint64_t at = (uint64_t)(uintptr_t)map_file(&f, "a", 'a', &identity);
	if (is_told(&identity) && may_open()) {
		EXPECT_INT(letter_of(mapped_file_open_at(getpid(), at, at + SIZE, &identity)), 'a');
		EXPECT_INT(unlink(folder_path(&f, "a")), 0);
		EXPECT_INT(letter_of(mapped_file_open_at(getpid(), at, at + SIZE, &identity)), 'a');
		struct mapped_identity other = identity;
		other.ino ^= 1;
		EXPECT_INT(mapped_file_open_at(getpid(), at, at + SIZE, &other), -1);
	}
	EXPECT_INT(mapped_file_open_at(getpid(), at, at + SIZE, &(struct mapped_identity){ 0 }), -1);
	EXPECT_INT(mapped_file_open_at(-1, at, at + SIZE, &identity), -1);
	munmap((void *)(uintptr_t)at, SIZE);
	EXPECT_INT(mapped_file_open_at(getpid(), at, at + SIZE, &identity), -1);
	folder_close(&f);
}

TEST("for a process that has ended, no file with another device and inode is used")
{
	struct folder f;
	struct stat st;
	folder_open(&f);
	EXPECT_INT(stat(folder_write(&f, "a", "a", 1), &st), 0);
	struct mapped_identity identity = { .maj = major(st.st_dev) ^ 1, .min = minor(st.st_dev), .ino = st.st_ino };
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	EXPECT_INT(waitpid(child, NULL, 0), child);
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), child, &identity)), 'a'); /* a device with two numbers */
	identity.ino ^= 1;
	EXPECT_INT(mapped_file_or_path(-1, folder_path(&f, "a"), child, &identity), -1);
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &identity)), 'a'); /* the path is visible to it now */
	folder_close(&f);
}
