#include "render/svg/ipc_svg.h"

#include <stdlib.h>

#include "unit.h"

static void fill(struct ipc_tracks *tracks)
{
	static const char name[] = "</title><script>alert(1)</script>\"";
	strtab_add(&tracks->names, "", 0);
	size_t index = ipc_tracks_find(tracks, -1, 7);
	struct ipc_track *track = &tracks->list.items[index];
	for (uint64_t i = 0; i < 10; i++)
		ipc_track_add(track, i == 5 ? 100 : 10, 20, 1000 + i * 10, 1010 + i * 10, i == 7);
	vec_push(&track->events, ((struct ipc_event){ .kind = IPC_EVENT_SYSCALL, .name = strtab_add(&tracks->names, name, strlen(name)),
		.from_ns = 1010, .to_ns = 1050, .from_cycle = 10, .to_cycle = 50 }));
	track->comm = track->events.items[0].name;
}

static char *drawn(struct ipc_tracks *tracks)
{
	struct writer out;
	const struct ipc_svg svg = { .title = "<T>", .grid = { .window = { 20, false }, .step = { 10, false }, .width = 4 }, .tracks = tracks };
	writer_open(&out, -1, 0);
	ipc_svg_write(&out, &svg);
	char *text = memory_alloc(out.len + 1);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	writer_fini(&out);
	return text;
}

TEST("names of the recording remain text in a picture of IPC")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	char *text = drawn(&tracks);
	EXPECT(strstr(text, "alert(1)"));
	EXPECT(!strstr(text, "<script>alert"));
	EXPECT(!strstr(text, "<T>"));
	free(text);
	ipc_tracks_fini(&tracks);
}

TEST("long ranges and lost trace have their own paths, and interrupt the line")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	char *text = drawn(&tracks);
	EXPECT(strstr(text, "class=\"long\" d=\"M"));
	EXPECT(strstr(text, "class=\"gap\" d=\"M"));
	char *first = strstr(text, "class=\"mean\"");
	EXPECT(first && strstr(first + 1, "class=\"mean\""));
	free(text);
	ipc_tracks_fini(&tracks);
}

static void add_frequency(struct ipc_tracks *tracks, uint64_t at_ns, const char *name)
{
	vec_push(&tracks->list.items[0].events, ((struct ipc_event){ .kind = IPC_EVENT_CBR, .from_ns = at_ns, .to_ns = at_ns,
		.name = strtab_add(&tracks->names, name, strlen(name)) }));
}

TEST("the frequency before the first range is at the start; a label that would cover the next packet is hidden until there is room")
{
	struct ipc_tracks tracks = { 0 };
	fill(&tracks);
	add_frequency(&tracks, 0, "1.00 GHz (ratio 10)");
	add_frequency(&tracks, 1050, "2.00 GHz (ratio 20)");
	add_frequency(&tracks, 1051, "3.00 GHz (ratio 30)");
	char *text = drawn(&tracks);
	EXPECT(strstr(text, "x=\"0.000\" y=\"74\" width=\"1.500\" height=\"14\"><title>cbr: 1.00 GHz (ratio 10)</title>"));
	EXPECT(strstr(text, "y=\"85\">1.00 GHz</text>"));
	EXPECT(strstr(text, "visibility=\"hidden\">2.00 GHz</text>"));
	EXPECT(strstr(text, "y=\"85\">3.00 GHz</text>"));
	free(text);
	ipc_tracks_fini(&tracks);
}

TEST("a picture of the windows around an event is interrupted where no window has cycles, and each window has its numbers")
{
	struct ipc_around around = { .occurrences = 3 };
	struct writer out;
	writer_open(&out, -1, 0);
	for (int64_t i = 0; i < 5; i++)
		vec_push(&around.rows, ((struct ipc_around_row){ .from = 10 * i - 20, .to = 10 * i - 10, .count = i == 2 ? 0 : 3, .mean = 1.5, .low = 1,
			.high = 2, .least = 1.25, .most = 1.75 }));
	ipc_around_svg_write(&out, &around, &(struct ipc_around_svg){ .title = "T", .event = "switch" });
	char *text = memory_alloc(out.len + 1);
	memcpy(text, out.buffer, out.len);
	text[out.len] = '\0';
	unsigned lines = 0, dots = 0;
	for (const char *at = text; (at = strstr(at, "<path class=\"mean\" d=\"M")); at++)
		lines++;
	for (const char *at = text; (at = strstr(at, "<circle class=\"dot\"")); at++)
		dots++;
	EXPECT(lines == 2 && dots == 4);
	EXPECT(strstr(text, "<title>-20 to -10 cycles\nIPC 1.50, 95 %: 1.00 to 2.00\nbounds: 1.25 to 1.75\n3 occurrences</title>"));
	EXPECT(!strstr(text, "<title>0 to 10 cycles"));
	free(text);
	vec_fini(&around.rows);
	writer_fini(&out);
}
