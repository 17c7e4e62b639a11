/* Parses proc_pid_status(5), proc_pid_stat(5) and proc_pid_maps(5). Other users choose the names and paths in them. Reads no file. */
#pragma once
#include "os/process.h"

/* Fills *status from the whole text of a status file; missing values are -1, a name is truncated to its size. */
void process_status_parse(const char *text, struct process_status *status);
/* Fills name, ids (those of a process), threads and `kernel` from the text of a stat file; tgid is -1 if it is invalid. The name is that of
 * the status file, where line ends and backslashes are escaped. */
void process_stat_parse(const char *text, struct process_status *status);
/* Parses one line of a maps file, without its newline; map->path points into it. Returns false if the line is invalid, or the range is
 * empty. */
bool process_map_parse(const char *line, struct process_map *map);
