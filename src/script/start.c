/* The start of a line: who, where and when. */
#include <stdio.h>
#include <time.h>

#include "script/internal.h"

#define NS_PER_SECOND 1000000000ull

enum { COMM_WIDTH = 16, COMM_BUFFER = COMM_TEXT, MISC_LETTERS_MAX = 16 };

static void add_comm(const struct listing_line *line, struct writer *out, const char *comm)
{
	size_t len = strlen(comm);

	if (line->listing->options.latency) {
		len = len > 8 ? 8 : len;
		writer_pad(out, ' ', 8 - len);
	} else if (!line->plan->comm_plain && len < COMM_WIDTH) {
		writer_pad(out, ' ', COMM_WIDTH - len);
	}
	writer_name(out, comm, len);
	writer_putc(out, ' ');
}

static const char *comm_of(const struct resolved *r, char buffer[static COMM_BUFFER])
{
	return r->tid == -1 ? ":-1" : resolved_comm(r, buffer, COMM_BUFFER);
}

/* Only records of virtual machines have these two. */
void print_machine(const struct listing_line *line, const struct field_row *row)
{
	if (line->r->machine)
		writer_printf(line->out, "VM:%5d ", line->r->machine->machine);
}

void print_virtual_cpu(const struct listing_line *line, const struct field_row *row)
{
	if (line->r->machine)
		writer_printf(line->out, "VCPU:%03d ", (int)line->r->machine->vcpu);
}

struct cell comm_cell(const struct listing_line *line)
{
	char buffer[COMM_BUFFER];
	const char *comm = line->r->comm == COMM_NONE ? comm_of(line->r, buffer) : resolved_comm(line->r, buffer, sizeof buffer);

	return listing_text_cell(line, comm, strlen(comm));
}

/* The names of a comm id, padded and plain, are made once per worker. */
void print_comm(const struct listing_line *line, const struct field_row *row)
{
	const struct resolved *r = line->r;
	struct listing_worker *worker = line->worker;
	char buffer[COMM_BUFFER];

	bool plain = line->plan->comm_plain;
	if (r->comm == COMM_NONE || (plain && r->tid == -1)) {
		add_comm(line, line->out, comm_of(r, buffer));
		return;
	}
	size_t index = (size_t)r->comm * 2 + plain;
	while (worker->comms.count <= index)
		vec_push(&worker->comms, ((struct comm_text){ 0 }));
	struct comm_text *known = &worker->comms.items[index];
	if (!known->text) {
		struct writer text;
		writer_open(&text, -1, 64);
		add_comm(line, &text, resolved_comm(r, buffer, sizeof buffer));
		known->text = arena_copy(&worker->arena, text.buffer, text.len);
		known->len = (uint32_t)text.len;
		writer_fini(&text);
	}
	writer_add(line->out, known->text, known->len);
}

static char *signed_write(char *p, int32_t value, unsigned width, char pad)
{
	char digits[16];
	unsigned len = (unsigned)(decimal_write(digits, value < 0 ? -(uint64_t)value : (uint64_t)value, 0, ' ') - digits);

	if (value < 0 && pad == '0')
		*p++ = '-';
	for (; width > len + (value < 0); width--)
		*p++ = pad;
	if (value < 0 && pad != '0')
		*p++ = '-';
	memcpy(p, digits, len);
	return p + len;
}

/* UINT32_MAX: absent */
static struct cell id_cell(uint32_t id)
{
	return id == UINT32_MAX ? cell_absent() : cell_number((int32_t)id);
}

struct cell machine_cell(const struct listing_line *line)
{
	return line->r->machine ? id_cell((uint32_t)line->r->machine->machine) : cell_absent();
}

struct cell virtual_cpu_cell(const struct listing_line *line)
{
	return line->r->machine ? id_cell(line->r->machine->vcpu) : cell_absent();
}

struct cell pid_cell(const struct listing_line *line)
{
	return id_cell(line->r->sample->pid);
}

struct cell tid_cell(const struct listing_line *line)
{
	return id_cell(line->r->sample->tid);
}

struct cell cpu_cell(const struct listing_line *line)
{
	return id_cell(line->r->sample->cpu);
}

/* "PID ", "TID " or "PID/TID  " */
void print_ids(const struct listing_line *line, const struct field_row *row)
{
	const struct sample *sample = line->r->sample;
	bool pid = shows(line, FIELD_PID), tid = shows(line, FIELD_TID);
	char *room = writer_room(line->out, 64), *p = room;

	if (pid) {
		p = signed_write(p, (int32_t)sample->pid, 7, ' ');
		*p++ = tid ? '/' : ' ';
	}
	if (tid) {
		char *start = p;
		p = signed_write(p, (int32_t)sample->tid, pid ? 0 : 7, ' ');
		while (pid && p < start + 7)
			*p++ = ' ';
		*p++ = ' ';
	}
	writer_advance(line->out, (size_t)(p - room));
}

void print_cpu(const struct listing_line *line, const struct field_row *row)
{
	int32_t cpu = (int32_t)line->r->sample->cpu;
	char *room = writer_room(line->out, 32), *p = room;

	if (line->listing->options.latency) {
		p = signed_write(p, cpu, 3, ' ');
	} else {
		*p++ = '[';
		p = signed_write(p, cpu, 3, '0');
		*p++ = ']';
	}
	*p++ = ' ';
	writer_advance(line->out, (size_t)(p - room));
}

/* Writes a letter for each of the record's flags and returns the end. Records of different types use the same bits. */
static char *misc_letters(const struct record *record, char *p)
{
	static const struct {
		uint16_t bits;
		char letter;
		uint8_t types[2]; /* 0: any */
	} flags[] = {
		{ RECORD_MISC_KERNEL, 'K' }, { RECORD_MISC_USER, 'U' }, { RECORD_MISC_HYPERVISOR, 'H' },
		{ RECORD_MISC_GUEST_KERNEL, 'G' }, { RECORD_MISC_GUEST_USER, 'g' },
		{ RECORD_MISC_MMAP_DATA, 'M', { RECORD_MMAP, RECORD_MMAP2 } }, { RECORD_MISC_COMM_EXEC, 'E', { RECORD_COMM } },
		{ RECORD_MISC_SWITCH_OUT, 'S', { RECORD_SWITCH, RECORD_SWITCH_CPU_WIDE } },
		{ RECORD_MISC_SWITCH_OUT | RECORD_MISC_SWITCH_OUT_PREEMPT, 'p', { RECORD_SWITCH, RECORD_SWITCH_CPU_WIDE } },
	};

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if ((record->misc & flags[i].bits) == flags[i].bits &&
		    (!flags[i].types[0] || flags[i].types[0] == record->type || flags[i].types[1] == record->type))
			*p++ = flags[i].letter;
	return p;
}

struct cell misc_cell(const struct listing_line *line)
{
	char letters[MISC_LETTERS_MAX];

	return listing_text_cell(line, letters, (size_t)(misc_letters(line->r->record, letters) - letters));
}

void print_misc(const struct listing_line *line, const struct field_row *row)
{
	char *room = writer_room(line->out, 32), *p = misc_letters(line->r->record, room);

	do
		*p++ = ' ';
	while (p < room + 6);
	writer_advance(line->out, (size_t)(p - room));
}

/* In ns since 1970, if the recording has the time of day at one time of its clock. */
static uint64_t time_of_day(const struct listing_line *line)
{
	return line->listing->wall.wall_ns + (line->r->sample->time - line->listing->wall.clock_ns);
}

struct cell time_of_day_cell(const struct listing_line *line)
{
	bool known = line->listing->wall.known && line->r->sample->time != UINT64_MAX;

	return known ? cell_time(time_of_day(line)) : cell_absent();
}

void print_time_of_day(const struct listing_line *line, const struct field_row *row)
{
	const struct listing *listing = line->listing;
	struct tm tm;
	char date[64];

	if (!listing->wall.known) {
		writer_puts(line->out, "disabled ");
		return;
	}
	uint64_t wall = time_of_day(line);
	time_t seconds = (time_t)(wall / NS_PER_SECOND);
	if (!localtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%F %H:%M:%S", &tm)) {
		writer_puts(line->out, "failed ");
		return;
	}
	uint64_t part = wall % NS_PER_SECOND;
	if (listing->options.nanoseconds)
		writer_printf(line->out, "%s.%09llu ", date, (unsigned long long)part);
	else
		writer_printf(line->out, "%s.%06llu ", date, (unsigned long long)(part / 1000));
}

static uint64_t time_to_show(struct listing *listing, uint64_t time)
{
	uint64_t previous = listing->last_time;

	switch (listing->options.time) {
	case LISTING_TIME_FROM_START:
		if (!listing->first_time)
			listing->first_time = time;
		return time - listing->first_time;
	case LISTING_TIME_FROM_PREVIOUS:
		listing->last_time = time;
		return previous ? time - previous : 0;
	default:
		return time;
	}
}

struct cell time_cell(const struct listing_line *line)
{
	bool known = line->r->sample->time != UINT64_MAX;

	return known ? cell_time(time_to_show(line->listing, line->r->sample->time)) : cell_absent();
}

void print_time(const struct listing_line *line, const struct field_row *row)
{
	uint64_t time = time_to_show(line->listing, line->r->sample->time);
	bool fine = line->listing->options.nanoseconds;
	char *room = writer_room(line->out, 64), *p = room;

	p = decimal_write(p, time / NS_PER_SECOND, 5, ' ');
	*p++ = '.';
	p = fine ? digits_write(p, time % NS_PER_SECOND, 9) : digits_write(p, time % NS_PER_SECOND / 1000, 6);
	*p++ = ':';
	*p++ = ' ';
	writer_advance(line->out, (size_t)(p - room));
}
