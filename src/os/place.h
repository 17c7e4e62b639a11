/* Resolves a path that the user gave (an option, the environment, the configuration), and checks whether another user could have changed
 * it. Symbolic links are followed one by one. Knows no content.
 *
 * A folder or file is private if its owner is root or the effective user, and no other user can write to it: no permission for others, nor
 * for the group unless that is root's or the owner's own (of the same number). For folders on the path to it, a sticky bit, as of /tmp,
 * also suffices. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"
#include "os/checked.h"

enum folder_how {
	FOLDER_MAKE = 1,      /* create it and its parents if they are missing */
	FOLDER_SECRET = 4,    /* … only accessible to the user */
	FOLDER_ANYBODYS = 2,  /* skip the check of owners: for reading a folder that the user named, as an ordinary user */
};

/* Whether this is so, of the status of a folder or a file. */
bool status_is_private(const struct stat *st);

/* Opens the folder at path (O_PATH), for os/checked.h. It, and every folder and link on the path, must belong to root or the effective
 * user, and be private: otherwise ERROR_PERMISSION, and nothing is created below a folder of another user. A relative path begins at the
 * current folder, which is checked, too. */
int private_folder_open(const char *path, unsigned how, struct error *err);

enum place_kind {
	PLACE_NEW,            /* no entry of that name */
	PLACE_FILE,
	PLACE_FOLDER,
	PLACE_DEVICE,
	PLACE_PIPE,           /* a FIFO or socket */
	PLACE_DESCRIPTOR,     /* a link of /proc to an open file: /dev/stdout, /proc/self/fd/N */
};

/* The position of a file to be written. */
struct place {
	int folder;           /* its folder (O_PATH), after following links */
	char name[256];       /* in the folder; not a link, unless of /proc */
	enum place_kind kind;
	bool foreign;         /* it belongs to neither root nor the effective user */
	dev_t device;
	ino_t inode;
	mode_t mode;
};

/* Root follows no link that belongs to another user (ERROR_PERMISSION): that user would choose the file that root writes. */
int place_find(struct place *place, const char *path, struct error *err);
/* Opens or creates the file, and truncates a regular file unless flags have O_APPEND, beside O_WRONLY or O_RDWR. Root opens no regular
 * file or FIFO of another user, nor one that replaced what place_find saw. path: for messages. */
int place_open(const struct place *place, const char *path, int flags, mode_t mode, struct error *err);
void place_close(struct place *place);

/* Both at once, for a file to be written: its descriptor. */
int place_write(const char *path, int flags, mode_t mode, struct error *err);
/* The same rule of links for what is read: opens a file or folder that exists, with these flags. */
int place_read(const char *path, int flags, struct error *err);

/* A file that the user names: created beside the existing entry, which it then replaces (fresh_keep). Devices, pipes, /dev/stdout, and
 * files in folders that deny new files are written in place. The new file has the permissions of the one that it replaces. */
int fresh_open_named(struct fresh_file *file, const char *path, mode_t mode, struct error *err);
