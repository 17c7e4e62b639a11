/* Parses proc_pid_status(5) and proc_pid_maps(5). Other users choose the names and paths in them. Reads no file. */
#pragma once
#include "os/process.h"

/* Fills *status from the whole text of a status file; missing values are -1, a name is truncated to its size. */
void process_status_parse(const char *text, struct process_status *status);
/* Parses one line of a maps file, without its newline; map->path points into it. Returns false if the line is invalid, or the range is
 * empty. */
bool process_map_parse(const char *line, struct process_map *map);
