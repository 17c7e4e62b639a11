/* The process: its descriptors and signals, the configuration, one command line, what is reported at the end, the exit code. */
#pragma once

/* As main: returns the exit code. Once in a process. */
int process_run(int argc, char **argv);
