/* The very file that a living process has mapped, whatever has become of its path since: deleted, replaced, in no folder ever (memfd).
 * Format: proc_pid_map_files(5), which root may open; proc_pid_exe(5). Knows no format of files. */
#pragma once
#include <stdint.h>

/* A file as mappings tell it (of MMAP2 records); ino 0: they do not. */
struct mapped_identity {
	uint32_t maj, min;
	uint64_t ino, generation;   /* which of the files that had that number; 0: not told */
};

/* The descriptor, or < 0: the process is gone, or does not map it any more, or may not be looked into. Never another file. */
int mapped_file_open(int32_t pid, const struct mapped_identity *identity);
/* Whether that is the file; where it may be or not, as file systems have ways to tell another device than mappings do: 0, surely: 1, surely
 * not: -1. */
int mapped_file_is(int fd, const struct mapped_identity *identity);
/* Opens path as seen from root (-1: ours), if that still is the file, else as mapped_file_open. */
int mapped_file_or_path(int root, const char *path, int32_t pid, const struct mapped_identity *identity);
