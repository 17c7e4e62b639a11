/* Machines of tests: files below /sys and /run that a process and its children see instead of the kernel's. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders that the path needs. */
static inline void machine_folders(const char *path)
{
	char folder[PATH_MAX];
	for (const char *at = path; (at = strchr(at + 1, '/'));) {
		snprintf(folder, sizeof folder, "%.*s", (int)(at - path), path);
		mkdir(folder, 0755);
	}
}

/* A line "FOLDER" hides what is in this folder, "PATH<tab>TEXT" makes a file in one. */
static inline bool machine_take(char *line)
{
	line[strcspn(line, "\n")] = '\0';
	char *text = strchr(line, '\t');
	if (*line == '#' || !*line)
		return true;
	if (!text)
		return mount("none", line, "tmpfs", 0, "mode=755") == 0;
	*text++ = '\0';
	machine_folders(line);
	int fd = open(line, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool written = fd >= 0 && dprintf(fd, "%s\n", text) > 0;
	if (fd >= 0)
		close(fd);
	return written;
}

/* In a child: shows the machine of a file, of which each line is one of machine_take. false: this user may not, or the kernel has no such
 * folder. */
static inline bool machine_plant(const char *path)
{
	char line[8192];
	FILE *file = fopen(path, "re");
	bool planted = file && unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	while (planted && fgets(line, sizeof line, file))
		planted = machine_take(line);
	if (file)
		fclose(file);
	return planted;
}
