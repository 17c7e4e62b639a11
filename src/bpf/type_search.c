#include "bpf/type_search.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { PIECE = 64 << 10, MEMBERS_MAX = 1024 };

/* A part of the file that is read from front to back. */
struct piece {
	int fd;
	off_t next, end;             /* of the file: what is not read yet */
	char *bytes;
	size_t at, have;
};

/* At least `size` bytes, at most PIECE, or NULL at the end. They are valid until the next call. */
static const char *piece_take(struct piece *p, size_t size)
{
	if (size > PIECE)
		return NULL;
	if (p->have - p->at < size) {
		memmove(p->bytes, p->bytes + p->at, p->have - p->at);
		p->have -= p->at;
		p->at = 0;
		while (p->have < size && p->next < p->end) {
			size_t room = PIECE - p->have, rest = (size_t)(p->end - p->next);
			ssize_t n = pread(p->fd, p->bytes + p->have, room < rest ? room : rest, p->next);
			if (n <= 0)
				return NULL;
			p->have += (size_t)n;
			p->next += n;
		}
		if (p->have < size)
			return NULL;
	}
	const char *taken = p->bytes + p->at;
	p->at += size;
	return taken;
}

struct search {
	struct type_search *types;
	struct member_search *members;
	size_t type_count, member_count;
	uint64_t lengths;            /* bit n: a wanted name has n characters */
};

static void take_name(struct search *s, const char *name, size_t length, uint32_t place)
{
	if (length >= 64 || !(s->lengths >> length & 1))
		return;
	for (size_t i = 0; i < s->type_count; i++)
		if (strcmp(s->types[i].name, name) == 0)
			s->types[i].place = place;
	for (size_t i = 0; i < s->member_count; i++)
		if (strcmp(s->members[i].name, name) == 0)
			s->members[i].place = place;
}

/* Names that are not found have place 0, which is that of the empty name. */
static void find_names(struct search *s, struct piece *p)
{
	uint32_t place = 0;
	for (;;) {
		const char *rest = p->bytes + p->at;
		const char *end = memchr(rest, '\0', p->have - p->at);
		if (end) {
			take_name(s, rest, (size_t)(end - rest), place);
			p->at += (size_t)(end - rest) + 1;
			place += (uint32_t)(end - rest) + 1;
			continue;
		}
		size_t have = p->have - p->at;
		if (!piece_take(p, have + 1))
			return;
		p->at -= have + 1;
	}
}

static void take_members(struct search *s, size_t structure, const struct btf_member *list, size_t count, bool bitfields)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bit = bitfields ? BTF_MEMBER_BIT_OFFSET(list[i].offset) : list[i].offset;
		for (size_t k = 0; k < s->member_count; k++)
			if (s->members[k].structure == structure && s->members[k].place == list[i].name_off && s->members[k].place && bit % 8 == 0)
				s->members[k].at = (int32_t)(bit / 8);
	}
}

/* The bytes that follow a type. */
static size_t more_bytes(const struct btf_type *type)
{
	size_t count = BTF_INFO_VLEN(type->info);
	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return count * sizeof(struct btf_enum64);
	default:
		return 0;
	}
}

static void find_types(struct search *s, struct piece *p)
{
	const char *taken;
	for (uint32_t id = 1; (taken = piece_take(p, sizeof(struct btf_type))); id++) {
		struct btf_type type;
		memcpy(&type, taken, sizeof type);
		size_t structure = SIZE_MAX;
		for (size_t i = 0; i < s->type_count && type.name_off; i++) {
			if (s->types[i].place != type.name_off || s->types[i].kind != BTF_INFO_KIND(type.info))
				continue;
			s->types[i].id = id;
			structure = s->types[i].kind == TYPE_SEARCH_STRUCTURE ? i : SIZE_MAX;
		}
		size_t more = more_bytes(&type), count = BTF_INFO_VLEN(type.info);
		for (size_t left = more; left;) { /* an enumeration may be larger than a piece */
			size_t size = left < PIECE / 2 ? left : PIECE / 2;
			const char *bytes = piece_take(p, size);
			if (!bytes)
				return;
			struct btf_member list[MEMBERS_MAX];
			if (structure != SIZE_MAX && left == more && count <= sizeof list / sizeof *list) {
				memcpy(list, bytes, size);
				take_members(s, structure, list, count, BTF_INFO_KFLAG(type.info));
			}
			left -= size;
		}
	}
}

static int check_found(const struct search *s, struct error *err)
{
	for (size_t i = 0; i < s->type_count; i++)
		if (!s->types[i].id)
			return error_set(err, ERROR_UNSUPPORTED, "the kernel has no type '%s'", s->types[i].name);
	for (size_t i = 0; i < s->member_count; i++)
		if (s->members[i].at < 0)
			return error_set(err, ERROR_UNSUPPORTED, "the kernel's '%s' has no member '%s'", s->types[s->members[i].structure].name,
				s->members[i].name);
	return 0;
}

int type_search(struct type_search *types, size_t type_count, struct member_search *members, size_t member_count, struct error *err)
{
	struct search s = { types, members, type_count, member_count, 0 };
	struct btf_header head;
	struct piece p = { .fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC) };
	for (size_t i = 0; i < type_count; i++) {
		types[i].id = types[i].place = 0;
		s.lengths |= (uint64_t)1 << strlen(types[i].name) % 64;
	}
	for (size_t i = 0; i < member_count; i++) {
		members[i].at = -1;
		members[i].place = 0;
		s.lengths |= (uint64_t)1 << strlen(members[i].name) % 64;
	}
	if (p.fd < 0 || pread(p.fd, &head, sizeof head, 0) != (ssize_t)sizeof head || head.magic != BTF_MAGIC) {
		if (p.fd >= 0)
			close(p.fd);
		return error_set(err, ERROR_UNSUPPORTED, "the kernel does not publish its types (CONFIG_DEBUG_INFO_BTF)");
	}
	p.bytes = memory_alloc(PIECE);
	p.next = (off_t)head.hdr_len + head.str_off;
	p.end = p.next + head.str_len;
	find_names(&s, &p);
	p.at = p.have = 0;
	p.next = (off_t)head.hdr_len + head.type_off;
	p.end = p.next + head.type_len;
	find_types(&s, &p);
	free(p.bytes);
	close(p.fd);
	return check_found(&s, err);
}
