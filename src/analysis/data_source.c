#include "analysis/data_source.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

uint64_t data_source_part(uint64_t data_source, enum data_source_part part)
{
	static const struct { uint8_t shift, bits; } places[] = {
		[SOURCE_OPERATION] = { 0, 5 }, [SOURCE_LEVEL] = { 5, 14 }, [SOURCE_SNOOP] = { 19, 5 }, [SOURCE_LOCK] = { 24, 2 },
		[SOURCE_TLB] = { 26, 7 }, [SOURCE_LEVEL_NUMBER] = { 33, 4 }, [SOURCE_REMOTE] = { 37, 1 }, [SOURCE_SNOOP_MORE] = { 38, 2 },
		[SOURCE_BLOCK] = { 40, 3 }, [SOURCE_HOPS] = { 43, 3 },
	};
	return data_source >> places[part].shift & ((1u << places[part].bits) - 1);
}

/* A text that grows in a buffer of fixed size; what does not fit is dropped. */
struct text {
	char *at;
	size_t len, size;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->at + text->len, text->size - text->len, format, args);
	va_end(args);
	if (n > 0)
		text->len += (size_t)n < text->size - text->len ? (size_t)n : text->size - text->len - 1;
}

/* The names of the bits that are set, joined by " or "; bits without a name are left out. */
static bool add_bits(struct text *text, uint64_t bits, const char *const *names, size_t count)
{
	bool any = false;
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1) {
			text_add(text, "%s%s", text->len ? " or " : "", names[i]);
			any = true;
		}
	return any;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { NOT_AVAILABLE = 1, HIT = 2, MISS = 4 }; /* bits that LEVEL and TLB share */

static void add_operation(struct text *text, uint64_t bits)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (bits >> i & 1) {
			text_add(text, "%s", names[i]);
			return;
		}
	text_add(text, "No");
}

static void add_level(struct text *text, uint64_t source)
{
	static const char *const names[] = {
		"N/A", "HIT", "MISS", "L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)", "Remote RAM (2 hops)",
		"Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached",
	};
	static const char *const numbers[16] = {
		[1] = "L1", "L2", "L3", "L4", "L2 MHB", "Memory-side Cache", [8] = "Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
		"PMEM", "N/A",
	};
	static const char *const hops[8] = { "N/A", "core, same node", "node, same socket", "socket, same board", "board" };
	enum { NUMBER_NOT_AVAILABLE = 15 };
	uint64_t level = data_source_part(source, SOURCE_LEVEL), number = data_source_part(source, SOURCE_LEVEL_NUMBER);
	const char *outcome = level & HIT ? "hit" : level & MISS ? "miss" : "";
	if (number && number != NUMBER_NOT_AVAILABLE) {
		uint64_t hop = data_source_part(source, SOURCE_HOPS);
		if (data_source_part(source, SOURCE_REMOTE))
			text_add(text, "Remote ");
		if (hop)
			text_add(text, "%s ", hops[hop] ? hops[hop] : "");
		if (numbers[number])
			text_add(text, "%s", numbers[number]);
		else
			text_add(text, "Unknown level %d", (int)number);
		text_add(text, " %s", outcome);
	} else if (add_bits(text, level & ~(uint64_t)(NOT_AVAILABLE | HIT | MISS), names, COUNT(names))) {
		text_add(text, " %s", outcome);
	} else {
		text_add(text, "N/A");
	}
}

static void add_snoop(struct text *text, uint64_t source)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" }, *const more[] = { "Fwd", "Peer" };
	add_bits(text, data_source_part(source, SOURCE_SNOOP), names, COUNT(names));
	add_bits(text, data_source_part(source, SOURCE_SNOOP_MORE), more, COUNT(more));
	if (!text->len)
		text_add(text, "N/A");
}

static void add_tlb(struct text *text, uint64_t bits)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };
	if (!add_bits(text, bits & ~(uint64_t)(HIT | MISS), names, COUNT(names)))
		text_add(text, "N/A");
	text_add(text, "%s%s", bits & HIT ? " hit" : "", bits & MISS ? " miss" : "");
}

static void add_block(struct text *text, uint64_t bits)
{
	enum { DATA = 2, ADDRESS = 4 };
	if (!bits || bits & NOT_AVAILABLE)
		text_add(text, " N/A");
	else
		text_add(text, "%s%s", bits & DATA ? " Data" : "", bits & ADDRESS ? " Addr" : "");
}

size_t data_source_text(uint64_t data_source, enum data_source_part part, char *buffer, size_t size)
{
	enum { LOCKED = 2 };
	struct text text = { .at = buffer, .size = size };
	uint64_t bits = data_source_part(data_source, part);
	buffer[0] = '\0';
	switch (part) {
	case SOURCE_OPERATION:
		add_operation(&text, bits);
		break;
	case SOURCE_LEVEL:
		add_level(&text, data_source);
		break;
	case SOURCE_SNOOP:
		add_snoop(&text, data_source);
		break;
	case SOURCE_LOCK:
		text_add(&text, "%s", bits & NOT_AVAILABLE ? "N/A" : bits & LOCKED ? "Yes" : "No");
		break;
	case SOURCE_TLB:
		add_tlb(&text, bits);
		break;
	case SOURCE_BLOCK:
		add_block(&text, bits);
		break;
	default:
		break;
	}
	return text.len;
}
