#include "unwind/stubs.h"

#include <elf.h>

#include "unwind/stubs_go.h"

enum {
	PLT_ENTRY = 16,
	GAP_MIN = 16, /* smaller gaps are padding */
	SMALL_CODE = 64 << 10, /* a vDSO: trampolines are searched even where other rules exist */
	ALIGNED = 16,          /* functions are aligned; code after a gap inside of a function is not */
	CLONE_GAP_MIN = 8, CLONE_GAP_MAX = 32,
};

static void add(struct collection *c, uint64_t start, uint64_t size, enum stub stub)
{
	vec_push(&c->pieces, ((struct piece){ .start = start, .end = start + size, .function = start, .program = stub,
		.section = STUB_SECTION, .rank = stub == STUB_SIGNAL ? 0 : RANK_LAST }));
}

/* The byte sequences common to all rt_sigreturn trampolines, and the instructions that may precede: mov $15, %rax or %eax; syscall. mov x8,
 * 139; svc 0. */
static const struct trampoline {
	enum unwind_arch arch;
	uint8_t len, bytes[8];
	uint8_t before_len[2], before[2][3];
} trampolines[] = {
	{ UNWIND_X86_64, 6, { 0x0f, 0, 0, 0, 0x0f, 0x05 }, { 3, 1 }, { { 0x48, 0xc7, 0xc0 }, { 0xb8 } } },
	{ UNWIND_AARCH64, 8, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, { 0, 0 }, { { 0 } } },
};

static void check_trampoline(struct collection *c, const struct trampoline *t, struct span code, uint64_t address, size_t at)
{
	for (unsigned i = 0; i < 2; i++) {
		size_t before = t->before_len[i];
		if (before <= at && memcmp(code.data + at - before, t->before[i], before) == 0) {
			/* a handler returns to the first byte, and return addresses are looked up one below */
			add(c, address + at - before - 1, before + t->len + 1u, STUB_SIGNAL);
			return;
		}
	}
}

/* memmem, optimized for the few bytes between functions. */
static const uint8_t *find_bytes(const uint8_t *at, const uint8_t *end, const struct trampoline *t)
{
	enum { SHORT = 64 };
	if (end - at > SHORT)
		return memmem(at, (size_t)(end - at), t->bytes, t->len);
	for (uint64_t want = load_u32(t->bytes); end - at >= t->len; at++)
		if (load_u32(at) == want && memcmp(at, t->bytes, t->len) == 0)
			return at;
	return NULL;
}

static void find_trampolines(struct collection *c, const struct trampoline *t, struct span code, uint64_t address)
{
	const uint8_t *at = code.data, *end = code.data + code.len;
	while ((at = find_bytes(at, end, t))) {
		check_trampoline(c, t, code, address, (size_t)(at - code.data));
		at += t->len;
	}
}

/* i386: mov (%esp), register; ret. Position-independent code calls this to get its address. */
static void find_thunks(struct collection *c, struct span code, uint64_t address)
{
	for (size_t at = 0; at + 4 <= code.len; at++) {
		const uint8_t *bytes = code.data + at;
		if (bytes[0] == 0x8b && (bytes[1] & 0xc7) == 0x04 && bytes[2] == 0x24 && bytes[3] == 0xc3)
			add(c, address + at, 4, STUB_LEAF);
	}
}

/* Searches the code of a segment that no piece covers. t: the trampoline to find; NULL: thunks. */
static void find_in_gaps(struct collection *c, const struct trampoline *t, struct span code, uint64_t address)
{
	size_t pieces = c->pieces.count; /* found pieces are appended */
	uint64_t from = address, end = address + code.len;
	for (size_t i = 0; i <= pieces && from < end; i++) {
		uint64_t to = i < pieces ? c->pieces.items[i].start : end, next = i < pieces ? c->pieces.items[i].end : end;
		if (to > end)
			to = end;
		struct span gap = { code.data + (from - address), to > from ? (size_t)(to - from) : 0 };
		if (gap.len >= GAP_MIN && t)
			find_trampolines(c, t, gap, from);
		else if (gap.len >= GAP_MIN)
			find_thunks(c, gap, from);
		if (next > from)
			from = next;
	}
}

static void find_in_code(struct collection *c, struct span code, uint64_t address, enum unwind_arch arch, bool go)
{
	if (!code.len || code.len > UINT64_MAX - address)
		return;
	for (size_t t = 0; t < sizeof trampolines / sizeof *trampolines; t++)
		if (trampolines[t].arch == arch && (go || code.len <= SMALL_CODE))
			find_trampolines(c, &trampolines[t], code, address);
		else if (trampolines[t].arch == arch)
			find_in_gaps(c, &trampolines[t], code, address);
	if (arch == UNWIND_X86)
		find_in_gaps(c, NULL, code, address);
}

/* The bytes of code at an address; NULL if there are fewer. */
static const uint8_t *code_at(const struct elf *elf, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < elf->load_count; i++) {
		const struct elf_load *load = &elf->loads[i];
		uint64_t at = address - load->vaddr;
		if (load->flags & PF_X && address >= load->vaddr && at < load->file_size && size <= load->file_size - at &&
		    load->offset <= elf->bytes.len && load->file_size <= elf->bytes.len - load->offset)
			return elf->bytes.data + load->offset + at;
	}
	return NULL;
}

/* The C library's clone and clone3 have no rules after their system call: code without a piece, inside a function. */
static void find_clones(struct collection *c, const struct elf *elf, enum unwind_arch arch)
{
	static const uint8_t calls[2][2] = { { 0x0f, 0x05 }, { 0xcd, 0x80 } }; /* syscall; int $0x80 */
	static const uint8_t pops[] = { 0x5f, 0x5e, 0x5b };                      /* edi, esi, ebx */
	size_t pieces = c->pieces.count;
	for (size_t i = 0; i + 1 < pieces; i++) {
		uint64_t from = c->pieces.items[i].end, to = c->pieces.items[i + 1].start, pushed = 0;
		if (to < from || to - from < CLONE_GAP_MIN || to - from > CLONE_GAP_MAX || to % ALIGNED == 0 || from < 2)
			continue;
		const uint8_t *code = code_at(elf, from - 2, to - from + 2);
		if (!code || memcmp(code, calls[arch == UNWIND_X86], 2) != 0)
			continue;
		if (arch == UNWIND_X86 && memcmp(code + 2, pops, sizeof pops) == 0)
			pushed = sizeof pops;
		for (; pushed; pushed--, from++)
			add(c, from, 1, (enum stub)(STUB_CLONED + pushed));
		add(c, from, to - from, STUB_CLONED);
	}
}

/* Searches by sections, because executable segments often contain data, too; by segments if there are no sections. */
static void find_everywhere(struct collection *c, const struct elf *elf, enum unwind_arch arch)
{
	uint32_t found = 0;
	bool go = go_is(elf); /* its trampoline has rules like any function */
	for (uint32_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *section = &elf->sections[i];
		if (!(section->flags & SHF_EXECINSTR) || section->type != SHT_PROGBITS || found == ELF_LOADS_LIMIT)
			continue;
		find_in_code(c, elf_section_bytes(elf, section), section->address, arch, go);
		found++;
	}
	for (uint32_t i = 0; i < elf->load_count && !found; i++) {
		const struct elf_load *load = &elf->loads[i];
		if (load->flags & PF_X && load->offset <= elf->bytes.len && load->file_size <= elf->bytes.len - load->offset)
			find_in_code(c, (struct span){ elf->bytes.data + load->offset, (size_t)load->file_size }, load->vaddr, arch, go);
	}
}

static enum stub lazy_kind(struct span code)
{
	static const uint8_t mark[] = { 0xf3, 0x0f, 0x1e };
	return code.len >= PLT_ENTRY + 3 && memcmp(code.data + PLT_ENTRY, mark, 3) == 0 ? STUB_PLT_LAZY_MARKED : STUB_PLT_LAZY;
}

static void find_plt(struct collection *c, const struct elf *elf, const char *name, bool lazy)
{
	const struct elf_section *section = elf_section(elf, name);
	struct span code = section ? elf_section_bytes(elf, section) : (struct span){ 0 };
	if (!code.len || code.len > UINT32_MAX || !section->address)
		return;
	if (!lazy) {
		add(c, section->address, code.len, STUB_PLT_PLAIN);
		return;
	}
	add(c, section->address, code.len < PLT_ENTRY ? code.len : PLT_ENTRY, STUB_PLT_FIRST);
	if (code.len > PLT_ENTRY)
		add(c, section->address + PLT_ENTRY, code.len - PLT_ENTRY, lazy_kind(code));
}

void stubs_collect(struct collection *c, const struct elf *elf, enum unwind_arch arch)
{
	if (arch != UNWIND_AARCH64)
		find_clones(c, elf, arch); /* first: all pieces are still in order */
	find_everywhere(c, elf, arch);
	if (go_is(elf))
		go_collect(c, elf);
	if (arch == UNWIND_AARCH64)
		return; /* PLT entries push nothing there; the link register has the caller */
	find_plt(c, elf, ".plt", true);
	find_plt(c, elf, ".plt.sec", false);
	find_plt(c, elf, ".plt.got", false);
}

static struct saved at_sp(const struct machine *m, unsigned reg, int32_t offset)
{
	return (struct saved){ .reg = (uint8_t)reg, .kind = SAVED_AT_REGISTER, .base = m->sp, .value = offset };
}

/* struct rt_sigframe: after the handler has returned, the stack pointer is at the ucontext. */
static uint32_t signal_x86_64(struct rule_builder *b, const struct machine *m)
{
	/* in the order of uc_mcontext, which starts at byte 40: r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip */
	static const uint8_t order[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2 };
	struct saved others[sizeof order];
	uint32_t count = 0;
	struct rule rule = { .cfa_kind = CFA_LOAD, .cfa_register = m->sp, .cfa_value = 160, .ra = at_sp(m, m->ra, 168),
		.fp = at_sp(m, m->fp, 120), .flags = RULE_SIGNAL };
	for (unsigned i = 0; i < sizeof order; i++)
		if (order[i] != m->fp)
			others[count++] = at_sp(m, order[i], (int32_t)(40 + 8 * i));
	return rule_builder_rule(b, &rule, others, count);
}

/* siginfo (128 bytes), ucontext up to uc_mcontext (176), fault_address, x0 … x30, sp, pc. */
static uint32_t signal_aarch64(struct rule_builder *b, const struct machine *m)
{
	struct saved others[31];
	uint32_t count = 0;
	enum { REGISTERS = 128 + 176 + 8 };
	struct rule rule = { .cfa_kind = CFA_LOAD, .cfa_register = m->sp, .cfa_value = REGISTERS + 31 * 8,
		.ra = at_sp(m, m->ra, REGISTERS + 32 * 8), .fp = at_sp(m, m->fp, REGISTERS + 29 * 8), .flags = RULE_SIGNAL };
	for (unsigned reg = 0; reg <= 30; reg++)
		if (reg != m->fp)
			others[count++] = at_sp(m, reg, (int32_t)(REGISTERS + 8 * reg));
	return rule_builder_rule(b, &rule, others, count);
}

/* The stack holds only registers that are still to be popped: the last ones of edi, esi, ebx. */
static uint32_t leaf_rule(struct rule_builder *b, const struct machine *m, uint32_t pushed, uint8_t flags)
{
	static const uint8_t popped[] = { 3, 6, 7 }; /* by distance from the return address */
	struct saved others[sizeof popped];
	for (uint32_t i = 0; i < pushed; i++)
		others[i] = (struct saved){ .reg = popped[i], .kind = SAVED_AT_CFA, .value = -(int32_t)((i + 2) * m->word) };
	struct rule rule = { .cfa_kind = CFA_REGISTER, .cfa_register = m->sp, .cfa_value = (int32_t)((1 + pushed) * m->word), .flags = flags,
		.ra = { .reg = m->ra, .kind = SAVED_AT_CFA, .value = -(int32_t)m->word }, .fp = { .reg = m->fp } };
	return rule_builder_rule(b, &rule, others, pushed);
}

uint32_t stub_rule(struct rule_builder *b, enum unwind_arch arch, enum stub stub)
{
	const struct machine *m = machine_of(arch);
	static const uint8_t thresholds[] = { [STUB_PLT_FIRST] = 6, [STUB_PLT_LAZY] = 11, [STUB_PLT_LAZY_MARKED] = 9, [STUB_PLT_PLAIN] = 16 };
	if (stub >= STUB_LEAF)
		return leaf_rule(b, m, stub > STUB_CLONED ? (uint32_t)stub - STUB_CLONED : 0, stub == STUB_LEAF ? RULE_SIMPLE : RULE_CLONED);
	if (stub == STUB_SIGNAL)
		return arch == UNWIND_AARCH64 ? signal_aarch64(b, m) : signal_x86_64(b, m);
	if (stub == STUB_SWITCHED || stub == STUB_BOTTOM) {
		struct rule end = { .flags = stub == STUB_BOTTOM ? RULE_BOTTOM : RULE_SWITCHED };
		return rule_builder_rule(b, &end, NULL, 0);
	}
	struct rule rule = { .cfa_kind = CFA_PLT, .cfa_register = m->sp, .cfa_value = stub == STUB_PLT_FIRST ? 2 * m->word : m->word,
		.threshold = thresholds[stub],
		.ra = { .reg = m->ra, .kind = SAVED_AT_CFA, .value = -(int32_t)m->word }, .fp = { .reg = m->fp } };
	return rule_builder_rule(b, &rule, NULL, 0);
}
