#include "symbol/packed.h"

#include <stdlib.h>

#include "base/memory.h"
#include "unit.h"

static const char list[] =
	"0000000000001000 T low\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000010 t local\n"
	"ffffffff81000030 D data\n"
	"ffffffff81000040 W weak\n"
	"ffffffffc0000000 t ext4_one\t[ext4]\n"
	"ffffffffc0000100 T ext4_two\t[ext4]\n"
	"ffffffffc0000200 t xfs_one\t[xfs]\n"
	"ffffffffc0001000 t bpf_prog_1\t[bpf]\n"
	"ffffffffc0002000 t ext4_three\t[ext4]\n"
	"ffffffffc0003000 t ftrace_trampoline\t[__builtin__ftrace]\n"
	"ffffffffc0004000 t kprobe_insn_page\t[__builtin__kprobes]\n";

struct sample_list {
	struct kallsyms k;
	char *bytes;
	size_t len;
};

static void sample_open(struct sample_list *s, const char *text)
{
	kallsyms_parse(&s->k, memory_string(text), strlen(text));
	EXPECT_INT(packed_make(&s->k, 7, &s->bytes, &s->len, NULL), 0);
}

static void sample_close(struct sample_list *s)
{
	kallsyms_fini(&s->k);
	free(s->bytes);
}

static struct span span_of(const struct sample_list *s)
{
	return (struct span){ (const uint8_t *)s->bytes, s->len };
}

/* As symtab_find. */
static uint32_t find(const struct packed_symbols *packed, uint64_t offset)
{
	struct symbol symbol;
	uint32_t id = packed_find(packed, offset);
	if (id)
		packed_get(packed, id, &symbol);
	return id && symbol_holds(&symbol, offset) ? id : 0;
}

static void expect_same(const struct symbol_table *table, const struct packed_symbols *packed)
{
	EXPECT_INT(table->count, packed->count);
	for (uint32_t id = 1; id <= table->count && id <= packed->count; id++) {
		const struct symbol *want = &table->symbols[id - 1];
		struct symbol got;
		packed_get(packed, id, &got);
		EXPECT(want->start == got.start && want->end == got.end && want->binding == got.binding && want->type == got.type);
		EXPECT_STR(got.name, want->name);
		for (int away = -1; away <= 1; away++) {
			EXPECT_INT(find(packed, want->start + (uint64_t)away), table_find(table, want->start + (uint64_t)away));
			EXPECT_INT(find(packed, want->end + (uint64_t)away), table_find(table, want->end + (uint64_t)away));
		}
	}
	EXPECT_INT(find(packed, 0), table_find(table, 0));
	EXPECT_INT(find(packed, UINT64_MAX), table_find(table, UINT64_MAX));
}

TEST("a packed list yields the symbols of the list, of the kernel and of each module")
{
	static const char *const modules[] = { "[ext4]", "[xfs]", "[none]" };
	static const uint64_t starts[] = { 0xffffffffc0000000, 0xffffffffc0000080, 0xffffffffffff0000, 0 };
	struct sample_list s;
	struct packed_list packed;
	sample_open(&s, list);
	EXPECT_INT(packed_open(&packed, span_of(&s), 7, NULL), 0);
	EXPECT(packed.marks.text == 0xffffffff81000000 && packed.marks.stext == 0xffffffff81000000);
	expect_same(&s.k.kernel, &packed.kernel);
	for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
		for (size_t j = 0; j < sizeof starts / sizeof *starts; j++) {
			struct symbol_table table;
			struct packed_symbols symbols;
			kallsyms_module(&s.k, modules[i], starts[j], &table);
			packed_module(&packed, modules[i], starts[j], &symbols);
			expect_same(&table, &symbols);
			table_fini(&table);
		}
	}
	sample_close(&s);
}

TEST("BPF programs and trampolines, which come and go, are not packed")
{
	struct sample_list s;
	struct packed_list packed;
	struct packed_symbols symbols;
	sample_open(&s, list);
	EXPECT_INT(packed_open(&packed, span_of(&s), 7, NULL), 0);
	EXPECT_INT(packed.module_count, 2);
	packed_module(&packed, "[bpf]", 0, &symbols);
	EXPECT_INT(symbols.count, 0);
	EXPECT(!memmem(s.bytes, s.len, "bpf_prog", 8) && !memmem(s.bytes, s.len, "trampoline", 10) && !memmem(s.bytes, s.len, "kprobe", 6));
	sample_close(&s);
}

TEST("a packed list that was moved is found at its new addresses")
{
	struct sample_list s;
	struct packed_list packed;
	struct symbol symbol;
	sample_open(&s, list);
	EXPECT_INT(packed_open(&packed, span_of(&s), 7, NULL), 0);
	packed.kernel.shift = 0x2000000;
	uint32_t id = packed_find(&packed.kernel, 0xffffffff83000012);
	EXPECT(id != 0);
	if (id) {
		packed_get(&packed.kernel, id, &symbol);
		EXPECT_STR(symbol.name, "local");
		EXPECT(symbol.start == 0xffffffff83000010 && symbol.end == 0xffffffff83000030);
	}
	EXPECT_INT(packed_find(&packed.kernel, 0xffffffff81000012), 1);
	sample_close(&s);
}

TEST("an empty list can be packed")
{
	struct sample_list s;
	struct packed_list packed;
	struct packed_symbols symbols;
	sample_open(&s, "");
	EXPECT_INT(packed_open(&packed, span_of(&s), 7, NULL), 0);
	EXPECT_INT(packed.kernel.count, 0);
	EXPECT_INT(packed_find(&packed.kernel, 0), 0);
	packed_module(&packed, "[ext4]", 0, &symbols);
	EXPECT_INT(symbols.count, 0);
	sample_close(&s);
}

/* As the reader of a file checks it. */
static bool is_whole(const char *bytes, size_t len, uint64_t state)
{
	struct packed_list packed;
	struct packed_sum sum = { 0 };
	uint64_t told;
	if (len < PACKED_SUM_SIZE || packed_open(&packed, (struct span){ (const uint8_t *)bytes, len }, state, NULL) < 0)
		return false;
	packed_sum_add(&sum, bytes, len - PACKED_SUM_SIZE);
	memcpy(&told, bytes + len - PACKED_SUM_SIZE, sizeof told);
	return told == packed_sum_end(&sum);
}

static void ask_everything(const char *bytes, size_t len)
{
	struct packed_list packed;
	struct packed_symbols symbols;
	struct symbol symbol;
	if (packed_open(&packed, (struct span){ (const uint8_t *)bytes, len }, 7, NULL) < 0)
		return;
	for (uint32_t id = 1; id <= packed.kernel.count; id++) {
		packed_get(&packed.kernel, id, &symbol);
		EXPECT(strlen(symbol.name) < len && packed_find(&packed.kernel, symbol.start) <= packed.kernel.count);
	}
	packed_module(&packed, "[ext4]", 0xffffffffc0000000, &symbols);
	for (uint32_t id = 1; id <= symbols.count; id++)
		packed_get(&symbols, id, &symbol);
}

TEST("a list truncated at any byte is rejected, and the checksum detects any changed bit")
{
	struct sample_list s;
	sample_open(&s, list);
	EXPECT(is_whole(s.bytes, s.len, 7));
	EXPECT(!is_whole(s.bytes, s.len, 8));
	for (size_t len = 0; len < s.len; len++) {
		/* of the exact size, so that sanitizers detect reads beyond its end */
		char *cut = memcpy(memory_alloc(len), s.bytes, len);
		EXPECT(!is_whole(cut, len, 7));
		ask_everything(cut, len);
		free(cut);
	}
	for (size_t bit = 0; bit < s.len * 8; bit++) {
		s.bytes[bit / 8] ^= (char)(1 << bit % 8);
		EXPECT(!is_whole(s.bytes, s.len, 7));
		ask_everything(s.bytes, s.len);
		s.bytes[bit / 8] ^= (char)(1 << bit % 8);
	}
	sample_close(&s);
}

TEST("the checksum of pieces is that of the whole")
{
	char bytes[200];
	struct packed_sum whole = { 0 }, pieces = { 0 };
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i * 7);
	packed_sum_add(&whole, bytes, sizeof bytes);
	packed_sum_add(&pieces, bytes, 3 * PACKED_PIECE);
	packed_sum_add(&pieces, bytes + 3 * PACKED_PIECE, sizeof bytes - 3 * PACKED_PIECE);
	EXPECT(packed_sum_end(&whole) == packed_sum_end(&pieces));
}
