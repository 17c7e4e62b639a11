#include "abi/bit_fields.h"
#include "abi/branch.h"
#include "abi/sample.h"

/* Layouts as in record_types.h: of MMAP2 with a build-id instead of device and inode, and of an attribute. */
static const char mmap2_build_id[] = "44888........................44";
static const char attr_pattern[] = "448888&" "448888448" "42244888";

static void swap_field(uint8_t *p, size_t width)
{
	for (size_t i = 0; i < width / 2; i++) {
		uint8_t byte = p[i];
		p[i] = p[width - 1 - i];
		p[width - 1 - i] = byte;
	}
}

static inline void swap_u64_at(uint8_t *p)
{
	uint64_t value = __builtin_bswap64(load_u64(p));
	memcpy(p, &value, sizeof value);
}

static inline void swap_u32_at(uint8_t *p)
{
	uint32_t value = __builtin_bswap32(load_u32(p));
	memcpy(p, &value, sizeof value);
}

static void swap_words(uint8_t *p, size_t len)
{
	for (size_t at = 0; len - at >= 8; at += 8)
		swap_u64_at(p + at);
}

static void mirror_attr_flags(uint8_t *p)
{
	uint8_t widths[63];
	memset(widths, 1, sizeof widths);
	widths[ATTR_PRECISE_IP] = 2;
	uint64_t flags = bit_fields_mirrored(load_u64(p), widths, sizeof widths, HOST_IS_BIG_ENDIAN);
	memcpy(p, &flags, sizeof flags);
}

static void mirror_branch_flags(uint8_t *p)
{
	uint64_t flags = branch_flags_mirrored(load_u64(p), HOST_IS_BIG_ENDIAN);
	memcpy(p, &flags, sizeof flags);
}

static int swap_pattern(const char *pattern, uint8_t *body, size_t len)
{
	size_t at = 0;
	for (; *pattern; pattern++) {
		size_t width = *pattern == '.' ? 1 : *pattern == '&' ? 8 : (size_t)(*pattern - '0');
		if (*pattern == '*') {
			swap_words(body + at, len - at);
			return 0;
		}
		if (*pattern == '+') {
			for (; len - at >= 4; at += 4)
				swap_field(body + at, 4);
			return 0;
		}
		if (width > len - at)
			return -1;
		if (*pattern != '.')
			swap_field(body + at, width);
		if (*pattern == '&')
			mirror_attr_flags(body + at);
		at += width;
	}
	return 0;
}

static void swap_trailer(uint8_t *p, uint64_t type)
{
#define HEAD(NAME, ...)                   \
	if (type & SAMPLE_##NAME) {       \
		swap_u64_at(p);           \
		p += 8;                   \
	}
#define HEAD_PAIR(NAME, ...)              \
	if (type & SAMPLE_##NAME) {       \
		swap_u32_at(p);           \
		swap_u32_at(p + 4);       \
		p += 8;                   \
	}
	SAMPLE_TRAILER(HEAD, HEAD_PAIR)
#undef HEAD
#undef HEAD_PAIR
}

/* A cursor that swaps the fields that it passes; cut: a size exceeds the body. */
struct swapper {
	uint8_t *body;
	size_t len, at;
	bool cut;
};

static uint64_t swap_next_u64(struct swapper *s)
{
	if (s->len - s->at < 8) {
		s->cut = true;
		return 0;
	}
	swap_u64_at(s->body + s->at);
	s->at += 8;
	return load_u64(s->body + s->at - 8);
}

static void swap_next_pair(struct swapper *s)
{
	if (s->len - s->at < 8) {
		s->cut = true;
		return;
	}
	swap_u32_at(s->body + s->at);
	swap_u32_at(s->body + s->at + 4);
	s->at += 8;
}

static void swap_next_u64s(struct swapper *s, uint64_t count)
{
	if (s->cut || count > (s->len - s->at) / 8) {
		s->cut = true;
		return;
	}
	swap_words(s->body + s->at, count * 8);
	s->at += count * 8;
}

static void skip_unswapped(struct swapper *s, uint64_t count)
{
	if (s->cut || count > s->len - s->at)
		s->cut = true;
	else
		s->at += count;
}

static void swap_read(struct swapper *s, const struct sample_layout *layout)
{
	uint64_t format = layout->read_format;
	uint64_t words = 1 + !!(format & READ_ID) + !!(format & READ_LOST);
	uint64_t times = !!(format & READ_TOTAL_TIME_ENABLED) + !!(format & READ_TOTAL_TIME_RUNNING);
	if (!(format & READ_GROUP)) {
		swap_next_u64s(s, words + times);
		return;
	}
	uint64_t count = swap_next_u64(s);
	swap_next_u64s(s, times);
	if (count > s->len / 8)
		s->cut = true;
	else
		swap_next_u64s(s, count * words);
}

static void swap_callchain(struct swapper *s, const struct sample_layout *layout)
{
	swap_next_u64s(s, swap_next_u64(s));
}

static void swap_raw(struct swapper *s, const struct sample_layout *layout)
{
	if (s->len - s->at < 4) {
		s->cut = true;
		return;
	}
	swap_u32_at(s->body + s->at);
	s->at += 4;
	skip_unswapped(s, load_u32(s->body + s->at - 4));
}

static void swap_branches(struct swapper *s, const struct sample_layout *layout)
{
	uint64_t count = swap_next_u64(s);
	if (layout->branch_sample_type & BRANCH_HW_INDEX && (count || s->at < s->len))
		swap_next_u64(s);
	if (s->cut || count > (s->len - s->at) / sizeof(struct branch_entry)) {
		s->cut = true;
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		swap_next_u64s(s, 3);
		mirror_branch_flags(s->body + s->at - 8);
	}
	if (layout->branch_sample_type & BRANCH_COUNTERS)
		swap_next_u64s(s, count);
}

static void swap_regs_user(struct swapper *s, const struct sample_layout *layout)
{
	if (swap_next_u64(s))
		swap_next_u64s(s, layout->regs_user_count);
}

static void swap_regs_intr(struct swapper *s, const struct sample_layout *layout)
{
	if (swap_next_u64(s))
		swap_next_u64s(s, layout->regs_intr_count);
}

static void swap_stack_user(struct swapper *s, const struct sample_layout *layout)
{
	uint64_t size = swap_next_u64(s);
	if (!size)
		return;
	skip_unswapped(s, size);
	swap_next_u64s(s, 1);
}

static void swap_word(struct swapper *s, const struct sample_layout *layout)
{
	swap_next_u64(s);
}

static void swap_weight_struct(struct swapper *s, const struct sample_layout *layout)
{
	swap_next_u64(s);
}

static void swap_pair(struct swapper *s, const struct sample_layout *layout)
{
	swap_next_pair(s);
}

static void swap_aux(struct swapper *s, const struct sample_layout *layout)
{
	skip_unswapped(s, swap_next_u64(s));
}

static const struct {
	uint64_t bit;
	void (*swap)(struct swapper *s, const struct sample_layout *layout);
} fields[] = {
#define WORD(NAME, ...) { SAMPLE_##NAME, swap_word },
#define PAIR(NAME, ...) { SAMPLE_##NAME, swap_pair },
#define PART(NAME, number, text, function) { SAMPLE_##NAME, swap_##function },
	SAMPLE_FIELDS(WORD, PAIR, PART, WORD)
#undef WORD
#undef PAIR
#undef PART
};

static int swap_sample(uint8_t *body, size_t len, const struct sample_layout *layout)
{
	struct swapper s = { .body = body, .len = len };
	for (size_t i = 0; i < sizeof fields / sizeof *fields && !s.cut; i++)
		if (layout->sample_type & fields[i].bit)
			fields[i].swap(&s, layout);
	return s.cut ? -1 : 0;
}

static uint16_t swap_next_u16(struct swapper *s)
{
	uint16_t value;
	if (s->len - s->at < 2) {
		s->cut = true;
		return 0;
	}
	swap_field(s->body + s->at, 2);
	memcpy(&value, s->body + s->at, 2);
	s->at += 2;
	return value;
}

enum cpu_map_type { CPU_MAP_LIST = 0, CPU_MAP_MASK = 1, CPU_MAP_RANGE = 2 };

/* { u16 type; list: u16 n, u16 cpu[n]; mask: u16 n, u16 width, width 8: 4 bytes of padding, words; range: u8 any, u8, u16, u16 } */
static void swap_cpu_map(struct swapper *s)
{
	uint16_t type = swap_next_u16(s);
	if (type == CPU_MAP_RANGE) {
		skip_unswapped(s, 2);
		swap_next_u16(s);
		swap_next_u16(s);
		return;
	}
	uint16_t count = swap_next_u16(s), width = 2;
	if (type == CPU_MAP_MASK) {
		width = swap_next_u16(s);
		if (width == 8)
			skip_unswapped(s, 4);
	}
	if (s->cut || (type != CPU_MAP_LIST && width != 4 && width != 8) || count > (s->len - s->at) / width) {
		s->cut = true;
		return;
	}
	for (; count; count--, s->at += width)
		swap_field(s->body + s->at, width);
}

enum event_update_type { EVENT_UPDATE_UNIT, EVENT_UPDATE_SCALE, EVENT_UPDATE_NAME, EVENT_UPDATE_CPUS };

static void swap_event_update(struct swapper *s)
{
	uint64_t type = swap_next_u64(s);
	swap_next_u64(s);
	if (type == EVENT_UPDATE_SCALE)
		swap_next_u64(s);
	else if (type == EVENT_UPDATE_CPUS)
		swap_cpu_map(s);
}

static void swap_thread_map(struct swapper *s)
{
	uint64_t count = swap_next_u64(s);
	if (count > (s->len - s->at) / 24)
		s->cut = true;
	for (; count && !s->cut; count--) {
		swap_next_u64(s);
		skip_unswapped(s, 16);
	}
}

static void swap_header_attr(struct swapper *s)
{
	if (s->len < ATTR_SIZE_VER0) {
		s->cut = true;
		return;
	}
	uint32_t size = __builtin_bswap32(load_u32(s->body + 4));
	size = size ? size : ATTR_SIZE_VER0;
	if (size < ATTR_SIZE_VER0 || size > s->len) {
		s->cut = true;
		return;
	}
	/* the pattern stops at the size: fields of later kernels and fields beyond the size are not swapped */
	swap_pattern(attr_pattern, s->body, size);
	s->at = size;
	swap_next_u64s(s, (s->len - s->at) / 8);
}

static int swap_special(uint32_t type, uint8_t *body, size_t len)
{
	struct swapper s = { .body = body, .len = len };
	switch (type) {
	case RECORD_HEADER_ATTR:
		swap_header_attr(&s);
		break;
	case RECORD_THREAD_MAP:
		swap_thread_map(&s);
		break;
	case RECORD_CPU_MAP:
		swap_cpu_map(&s);
		break;
	case RECORD_EVENT_UPDATE:
		swap_event_update(&s);
		break;
	default:
		break;
	}
	return s.cut ? -1 : 0;
}

int record_swap(uint32_t type, uint16_t misc, uint8_t *body, size_t len, const struct sample_layout *layout)
{
	if (type == RECORD_SAMPLE)
		return layout ? swap_sample(body, len, layout) : 0;
	if (type < RECORD_USER_TYPE_START && layout && layout->trailer_count) {
		size_t trailer = layout->trailer_count * sizeof(uint64_t);
		if (trailer > len)
			return -1;
		len -= trailer;
		swap_trailer(body + len, layout->sample_type);
	}
	const char *pattern = record_type_layout(type);
	if (type == RECORD_MMAP2 && misc & RECORD_MISC_MMAP_BUILD_ID)
		pattern = mmap2_build_id;
	/* later versions of perf added fields at the end, which may be absent */
	if (pattern && (type == RECORD_AUXTRACE_ERROR || type == RECORD_TIME_CONV)) {
		swap_pattern(pattern, body, len);
		return 0;
	}
	return pattern ? swap_pattern(pattern, body, len) : swap_special(type, body, len);
}
