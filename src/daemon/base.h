/* The base folder of a daemon: the lock that one daemon at a time holds, its socket, and the folders of its sessions. Only this user
 * and root can create entries in it, and no link in it is followed. Knows no session. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* Opens the folder (O_PATH), which must exist, belong to root or the effective user, and be closed to writes of others. */
int base_open(const char *path, struct error *err);
/* The lock of the base: held by the returned descriptor and its copies in child processes. < 0: another daemon holds it, or *err. */
int base_lock(int base, const char *path, struct error *err);
/* Writes the process id of the daemon into the lock's file. */
int base_lock_owner(int lock, struct error *err);
/* A file for output (O_WRONLY), emptied. */
int base_output(int folder, struct error *err);
/* The folder of a session, made if it is missing, with two new FIFOs "control" and "ack". O_PATH. */
int base_session(int base, const char *name, struct error *err);

/* The socket on which the daemon listens; replaces one that is left of an earlier daemon. */
int base_listen(int base, struct error *err);
/* A connection to the daemon of this base; its process is the effective user's or root's. */
int base_connect(int base, struct error *err);
/* Whether the process at the other end runs as the effective user or root. */
bool base_peer_is_own(int socket);
