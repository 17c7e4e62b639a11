#include "abi/data_source.h"

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

/* A string in a buffer of fixed size; text beyond its end is dropped. */
struct text {
	char *at;
	size_t len, size;
};

__attribute__((format(printf, 2, 3))) static void text_append(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text->at + text->len, text->size - text->len, format, args);
	va_end(args);
	if (n > 0)
		text->len += (size_t)n < text->size - text->len ? (size_t)n : text->size - text->len - 1;
}

/* Appends the names of the bits that are set, joined by " or "; skips bits without a name. Returns false if no bit has a name. */
static bool append_bit_names(struct text *text, uint64_t bits, const char *const *names, size_t count)
{
	bool any = false;
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1) {
			text_append(text, "%s%s", text->len ? " or " : "", names[i]);
			any = true;
		}
	return any;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { NOT_AVAILABLE = 1, HIT = 2, MISS = 4 }; /* the LEVEL and TLB fields share these bits */

static void append_operation(struct text *text, uint64_t bits)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (bits >> i & 1) {
			text_append(text, "%s", names[i]);
			return;
		}
	text_append(text, "No");
}

static void append_level(struct text *text, uint64_t source)
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
			text_append(text, "Remote ");
		if (hop)
			text_append(text, "%s ", hops[hop] ? hops[hop] : "");
		if (numbers[number])
			text_append(text, "%s", numbers[number]);
		else
			text_append(text, "Unknown level %d", (int)number);
		text_append(text, " %s", outcome);
	} else if (append_bit_names(text, level & ~(uint64_t)(NOT_AVAILABLE | HIT | MISS), names, COUNT(names))) {
		text_append(text, " %s", outcome);
	} else {
		text_append(text, "N/A");
	}
}

static void append_snoop(struct text *text, uint64_t source)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss", "HitM" }, *const more[] = { "Fwd", "Peer" };
	append_bit_names(text, data_source_part(source, SOURCE_SNOOP), names, COUNT(names));
	append_bit_names(text, data_source_part(source, SOURCE_SNOOP_MORE), more, COUNT(more));
	if (!text->len)
		text_append(text, "N/A");
}

static void append_tlb(struct text *text, uint64_t bits)
{
	static const char *const names[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };
	if (!append_bit_names(text, bits & ~(uint64_t)(HIT | MISS), names, COUNT(names)))
		text_append(text, "N/A");
	text_append(text, "%s%s", bits & HIT ? " hit" : "", bits & MISS ? " miss" : "");
}

static void append_block(struct text *text, uint64_t bits)
{
	enum { DATA = 2, ADDRESS = 4 };
	if (!bits || bits & NOT_AVAILABLE)
		text_append(text, " N/A");
	else
		text_append(text, "%s%s", bits & DATA ? " Data" : "", bits & ADDRESS ? " Addr" : "");
}

size_t data_source_text(uint64_t data_source, enum data_source_part part, char *buffer, size_t size)
{
	enum { LOCKED = 2 };
	struct text text = { .at = buffer, .size = size };
	uint64_t bits = data_source_part(data_source, part);
	buffer[0] = '\0';
	switch (part) {
	case SOURCE_OPERATION:
		append_operation(&text, bits);
		break;
	case SOURCE_LEVEL:
		append_level(&text, data_source);
		break;
	case SOURCE_SNOOP:
		append_snoop(&text, data_source);
		break;
	case SOURCE_LOCK:
		text_append(&text, "%s", bits & NOT_AVAILABLE ? "N/A" : bits & LOCKED ? "Yes" : "No");
		break;
	case SOURCE_TLB:
		append_tlb(&text, bits);
		break;
	case SOURCE_BLOCK:
		append_block(&text, bits);
		break;
	default:
		break;
	}
	return text.len;
}
