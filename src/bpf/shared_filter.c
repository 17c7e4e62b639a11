#include "bpf/shared_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/filter_steps.h"
#include "os/bpf.h"
#include "os/file.h"

#define ROOT "/sys/fs/bpf"
#define FOLDER ROOT "/perfuse_filter"
#define BEFORE FOLDER "/root" /* a folder whose mode is that of ROOT before users could enter it */

enum { ELEMENTS = 64, HELPER_LOOKUP = 1, HELPER_COOKIE = 174 };
enum { AT_KEY = -4, AT_STEP = -16 }; /* on the stack */

enum object { PROGRAM, FILTERS, OWNERS, DROPPED, OBJECTS };
static const char *const paths[OBJECTS] = {
	[PROGRAM] = FOLDER "/program", [FILTERS] = FOLDER "/filters", [OWNERS] = FOLDER "/owners", [DROPPED] = FOLDER "/dropped",
};

/* r0: the element of the map that the key on the stack names; jumps to `absent` if there is no such element. */
static void emit_lookup(struct assembler *a, int map, uint32_t absent)
{
	emit(a, BPF_MOVE_REGISTER, R2, R10, 0, 0);
	emit(a, BPF_PLUS, R2, 0, 0, AT_KEY);
	emit_wide(a, R1, BPF_MAP_DESCRIPTOR, (uint32_t)map);
	emit_helper(a, HELPER_LOOKUP);
	emit_jump(a, BPF_JUMP_EQUAL, R0, 0, absent);
}

/* r0: the value of the term whose number is r3. */
static void emit_terms(struct assembler *a, uint32_t keep)
{
	struct sample_fields fields;
	sample_fields_read(&fields);
	uint32_t end = assembler_label(a);
	for (unsigned term = 0; term <= CONDITION_CGROUP; term++) {
		uint32_t next = assembler_label(a);
		size_t at = a->out->list.count;
		emit_jump(a, BPF_JUMP_NOT_EQUAL, R3, (int32_t)term, next);
		if (filter_term_emit(a, &fields, term)) {
			emit_jump(a, BPF_JUMP, 0, 0, end);
		} else {
			a->out->list.count = at;
			a->jumps.count--;
		}
		assembler_place(a, next);
	}
	emit_jump(a, BPF_JUMP, 0, 0, keep);
	assembler_place(a, end);
}

/* r7: the step that follows, by the comparison of r0 with the value of the step at r2. */
static void emit_comparisons(struct assembler *a)
{
	uint32_t yes = assembler_label(a), no = assembler_label(a), end = assembler_label(a);
	emit(a, BPF_LOAD_LONG, R1, R2, offsetof(struct filter_step, value), 0);
	emit(a, BPF_LOAD_BYTE, R3, R2, offsetof(struct filter_step, operator), 0);
	for (unsigned operator = 0; operator < CONDITION_AND; operator++) {
		uint32_t next = assembler_label(a);
		emit_jump(a, BPF_JUMP_NOT_EQUAL, R3, (int32_t)operator, next);
		emit_jump(a, filter_jump(operator), R0, R1, yes);
		assembler_place(a, next);
	}
	assembler_place(a, no);
	emit(a, BPF_LOAD_BYTE, R7, R2, offsetof(struct filter_step, no), 0);
	emit_jump(a, BPF_JUMP, 0, 0, end);
	assembler_place(a, yes);
	emit(a, BPF_LOAD_BYTE, R7, R2, offsetof(struct filter_step, yes), 0);
	assembler_place(a, end);
}

/* r6: the context, r7: the index of the step, r8: the steps, r9: the number of steps so far, which bounds the loop for the verifier. */
static void emit_program(struct assembler *a, int filters, int dropped)
{
	uint32_t keep = assembler_label(a), drop = assembler_label(a), end = assembler_label(a), loop = assembler_label(a);
	emit(a, BPF_MOVE_REGISTER, R6, R1, 0, 0);
	emit_helper(a, HELPER_COOKIE);
	emit(a, BPF_STORE_HALF, R10, R0, AT_KEY, 0);
	emit_lookup(a, filters, keep);
	emit(a, BPF_MOVE_REGISTER, R8, R0, 0, 0);
	emit(a, BPF_MOVE, R7, 0, 0, 0);
	emit(a, BPF_MOVE, R9, 0, 0, 0);
	assembler_place(a, loop);
	emit_jump(a, BPF_JUMP_GREATER, R7, FILTER_STEPS_MAX - 1, end);
	emit(a, BPF_MOVE_REGISTER, R1, R7, 0, 0);
	emit(a, BPF_SHIFT_LEFT, R1, 0, 0, 4);
	emit(a, BPF_MOVE_REGISTER, R2, R8, 0, 0);
	emit(a, BPF_PLUS_REGISTER, R2, R1, 0, 0);
	emit(a, BPF_STORE_REGISTER, R10, R2, AT_STEP, 0);
	emit(a, BPF_LOAD_BYTE, R3, R2, offsetof(struct filter_step, term), 0);
	emit_terms(a, keep);
	emit(a, BPF_LOAD_LONG, R2, R10, AT_STEP, 0);
	emit_comparisons(a);
	emit(a, BPF_PLUS, R9, 0, 0, 1);
	emit_jump(a, BPF_JUMP_LESS, R9, FILTER_STEPS_MAX, loop);
	assembler_place(a, end);
	emit_jump(a, BPF_JUMP_EQUAL, R7, FILTER_DROP, drop);
	assembler_place(a, keep);
	emit(a, BPF_MOVE, R0, 0, 0, 1);
	emit(a, BPF_END, 0, 0, 0, 0);
	assembler_place(a, drop);
	emit_lookup(a, dropped, keep);
	emit(a, BPF_MOVE, R1, 0, 0, 1);
	emit(a, BPF_ATOMIC_ADD, R0, R1, 0, 0);
	emit(a, BPF_MOVE, R0, 0, 0, 0);
	emit(a, BPF_END, 0, 0, 0, 0);
}

_Static_assert(sizeof(struct filter_step) == 16, "the program shifts the index of a step by four");

static int make_objects(int *fds, struct error *err)
{
	struct bpf_instructions code = { 0 };
	struct assembler a = { .out = &code };
	fds[FILTERS] = bpf_map_make(BPF_MAP_KIND_ARRAY, FILTER_STEPS_MAX * sizeof(struct filter_step), ELEMENTS, err);
	fds[OWNERS] = fds[FILTERS] < 0 ? -1 : bpf_map_make(BPF_MAP_KIND_HASH, sizeof(uint32_t), ELEMENTS, err);
	fds[DROPPED] = fds[OWNERS] < 0 ? -1 : bpf_map_make(BPF_MAP_KIND_ARRAY, sizeof(uint64_t), ELEMENTS, err);
	if (fds[DROPPED] < 0)
		return -1;
	emit_program(&a, fds[FILTERS], fds[DROPPED]);
	assembler_fini(&a);
	fds[PROGRAM] = bpf_sample_program_load(code.list.items, code.list.count, err);
	vec_fini(&code.list);
	return fds[PROGRAM] < 0 ? -1 : 0;
}

enum { MODE_BITS = 07777, ENTER = S_IXGRP | S_IXOTH };

/* The root of a BPF file system that systemd mounts is closed to other users. */
static int open_root(void)
{
	struct stat now;
	if (stat(ROOT, &now) < 0)
		return -1;
	mode_t before = now.st_mode & MODE_BITS;
	if ((before & ENTER) == ENTER)
		return 0;
	return mkdir(BEFORE, 0700) < 0 || chmod(BEFORE, before) < 0 ? -1 : chmod(ROOT, before | ENTER);
}

/* Unless its mode was changed since. */
static void close_root(void)
{
	struct stat before, now;
	if (lstat(BEFORE, &before) < 0 || before.st_uid != geteuid() || stat(ROOT, &now) < 0)
		return;
	if ((now.st_mode & MODE_BITS) == ((before.st_mode & MODE_BITS) | ENTER))
		chmod(ROOT, before.st_mode & MODE_BITS);
	rmdir(BEFORE);
}

static int open_folder(struct error *err)
{
	if (mkdir(FOLDER, 0755) < 0)
		return errno == EEXIST ? error_set(err, ERROR_USAGE, "the filter is already set up: --setup-filter unpin removes it")
				       : error_system(err, "cannot make %s", FOLDER);
	if (chmod(FOLDER, 0755) == 0 && open_root() == 0)
		return 0;
	error_system(err, "cannot let users enter %s", FOLDER);
	shared_filter_unpin(NULL);
	return -1;
}

int shared_filter_pin(struct error *err)
{
	int fds[OBJECTS] = { -1, -1, -1, -1 };
	if (!bpf_has_file_system(ROOT)) {
		error_set(err, ERROR_UNSUPPORTED, "no BPF file system is mounted at %s", ROOT);
		return error_hint(err, "mount -t bpf bpf %s", ROOT);
	}
	int status = make_objects(fds, err);
	if (status >= 0 && (status = open_folder(err)) >= 0) {
		for (int i = 0; i < OBJECTS && status >= 0; i++)
			if ((status = bpf_pin(fds[i], paths[i])) < 0 || (status = chmod(paths[i], 0666)) < 0)
				error_system(err, "cannot pin %s", paths[i]);
		if (status < 0)
			shared_filter_unpin(NULL);
	}
	for (int i = 0; i < OBJECTS; i++)
		cleanup_fd(&fds[i]);
	return status < 0 ? -1 : 0;
}

int shared_filter_unpin(struct error *err)
{
	for (int i = 0; i < OBJECTS; i++)
		if (unlink(paths[i]) < 0 && errno != ENOENT)
			return error_system(err, "cannot remove %s", paths[i]);
	close_root();
	return rmdir(FOLDER) < 0 ? error_system(err, "cannot remove %s", FOLDER) : 0;
}

/* Whether the owner of an element has ended without giving it back. */
static bool abandoned(int owners, uint32_t element)
{
	uint32_t owner = 0;
	return bpf_map_read(owners, element, &owner) && kill((pid_t)owner, 0) < 0 && errno == ESRCH;
}

static int claim(struct shared_filter *filter, struct error *err)
{
	const uint32_t own = (uint32_t)getpid();
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		if (abandoned(filter->owners, i))
			bpf_map_remove(filter->owners, i);
		int status = bpf_map_write(filter->owners, i, &own, true);
		if (status == 0) {
			filter->element = i;
			return 0;
		}
		if (status != -EEXIST) {
			errno = -status;
			return error_system(err, "cannot claim an element of %s", paths[OWNERS]);
		}
	}
	return error_set(err, ERROR_LIMIT, "all %d filters of %s are in use", ELEMENTS, FOLDER);
}

int shared_filter_open(struct shared_filter *filter, const struct sample_condition *condition, bool monotonic, struct error *err)
{
	struct filter_steps steps;
	struct sample_fields fields = { 0 };
	uint64_t none = 0;
	*filter = (struct shared_filter){ -1, -1, -1, ELEMENTS, { 0 } };
	if (filter_needs_fields(condition, monotonic))
		sample_fields_read(&fields); /* the pinned program reads the same */
	if (filter_steps_make(&steps, condition, &fields, monotonic, err) < 0)
		return -1;
	CLEANUP_FD int filters = bpf_pinned(paths[FILTERS]);
	filter->program = bpf_pinned(paths[PROGRAM]);
	filter->owners = bpf_pinned(paths[OWNERS]);
	filter->dropped = bpf_pinned(paths[DROPPED]);
	if (filters < 0 || filter->program < 0 || filter->owners < 0 || filter->dropped < 0) {
		shared_filter_close(filter);
		error_set(err, ERROR_PERMISSION, "this user may not load the BPF program of a filter");
		return error_hint(err, "root can prepare filters for all users: record --setup-filter pin");
	}
	if (claim(filter, err) < 0)
		return -1;
	int status = bpf_map_write(filters, filter->element, steps.list, false);
	if (status == 0)
		status = bpf_map_write(filter->dropped, filter->element, &none, false);
	errno = -status;
	return status < 0 ? error_system(err, "cannot write a filter to %s", paths[FILTERS]) : 0;
}

int shared_filter_attach(struct shared_filter *filter, int counter)
{
	int link = bpf_link_counter(filter->program, counter, filter->element);
	if (link >= 0)
		vec_push(&filter->links, link);
	return link < 0 ? link : 0;
}

void shared_filter_close(struct shared_filter *filter)
{
	for (size_t i = 0; i < filter->links.count; i++)
		close(filter->links.items[i]);
	vec_fini(&filter->links);
	if (filter->owners >= 0 && filter->element < ELEMENTS)
		bpf_map_remove(filter->owners, filter->element);
	cleanup_fd(&filter->program);
	cleanup_fd(&filter->owners);
	cleanup_fd(&filter->dropped);
	*filter = (struct shared_filter){ -1, -1, -1, ELEMENTS, { 0 } };
}

uint64_t shared_filter_dropped(const struct shared_filter *filter)
{
	uint64_t count = 0;
	return filter->dropped >= 0 && filter->element < ELEMENTS && bpf_map_read(filter->dropped, filter->element, &count) ? count : 0;
}
