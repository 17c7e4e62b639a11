#include "image/mapped_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image/file.h"
#include "image/test_folder.h"
#include "os/process.h"
#include "unit.h"

enum { SIZE = 4096 };

/* A file of this letter, mapped into this process. */
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

/* The letter that the file begins with; 0: there is none. */
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

/* There are file systems that tell mappings another device than stat. */
static bool is_told(struct mapped_identity *identity)
{
	bool late;
	return process_maps(getpid(), 0, &late, visit, identity, NULL) < 0;
}

static bool may_open(void)
{
	return access("/proc/self/map_files", R_OK | X_OK) == 0 && geteuid() == 0;
}

TEST("a mapped file is opened after its path is gone or leads to another one, and never another one")
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
	EXPECT_INT(letter_of(mapped_file_or_path(-1, folder_path(&f, "a"), -1, &identity)), 0); /* surely another one */
	EXPECT_INT(unlink(folder_path(&f, "a")), 0);
	found = letter_of(mapped_file_open(getpid(), &identity));
	EXPECT(found == 'a' || (found == 0 && !may_open()));
	munmap(at, SIZE);
	EXPECT_INT(mapped_file_open(getpid(), &identity), -1);
	EXPECT_INT(mapped_file_or_path(-1, folder_path(&f, "a"), getpid(), &identity), -1);
	folder_close(&f);
}

TEST("a file that has got a deleted one's number is another one")
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

TEST("without an identity the path is all there is")
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

TEST("the program of a process is opened by its own link, too")
{
	struct stat st, opened;
	EXPECT_INT(stat("/proc/self/exe", &st), 0);
	struct mapped_identity identity = { .maj = major(st.st_dev), .min = minor(st.st_dev), .ino = st.st_ino };
	int fd = mapped_file_open(getpid(), &identity);
	/* some file systems tell mappings another device than stat */
	if (fd >= 0) {
		EXPECT(fstat(fd, &opened) == 0 && opened.st_ino == st.st_ino && opened.st_dev == st.st_dev);
		close(fd);
	}
	EXPECT_INT(mapped_file_open(getpid(), &(struct mapped_identity){ .maj = identity.maj, .min = identity.min, .ino = UINT64_MAX }), -1);
}
