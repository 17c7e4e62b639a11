/* The workloads, for their table, and the functions that thloop and leafloop call: as in perf, their symbols are global. */
#pragma once

int noploop(int argc, const char **argv);
int thloop(int argc, const char **argv);
int leafloop(int argc, const char **argv);
int sqrtloop(int argc, const char **argv);
int brstack(int argc, const char **argv);
int datasym(int argc, const char **argv);
int landlock(int argc, const char **argv);
int inlineloop(int argc, const char **argv);
int named_threads(int argc, const char **argv);
int context_switch_loop(int argc, const char **argv);
int traploop(int argc, const char **argv);

void test_loop(void);
void leaf(void);
void parent(void);
