#include "bpf/sample_fields.h"

#include <bpf/btf.h>
#include <limits.h>
#include <string.h>

/* The offset of a member in bytes; -1: the structure has no such member of whole bytes. */
static int16_t member_at(const struct btf *types, const char *structure, const char *member)
{
	int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(types, (uint32_t)id);
	for (uint16_t i = 0; type && i < btf_vlen(type); i++) {
		uint32_t bit = btf_member_bit_offset(type, i);
		const char *name = btf__name_by_offset(types, btf_members(type)[i].name_off);
		if (name && strcmp(name, member) == 0)
			return bit % 8 || bit / 8 > INT16_MAX ? -1 : (int16_t)(bit / 8);
	}
	return -1;
}

void sample_fields_read(struct sample_fields *fields)
{
	static const char *const names[FIELD_COUNT] = {
		[FIELD_ID] = "id", [FIELD_TIME] = "time", [FIELD_WEIGHT] = "weight", [FIELD_TXN] = "txn", [FIELD_PHYS_ADDR] = "phys_addr",
		[FIELD_DATA_SRC] = "data_src", [FIELD_DATA_PGSZ] = "data_page_size", [FIELD_CODE_PGSZ] = "code_page_size",
	};
	*fields = (struct sample_fields){ 0 };
	struct btf *types = btf__load_vmlinux_btf();
	if (!types)
		return;
	int convert = btf__find_by_name_kind(types, "bpf_cast_to_kern_ctx", BTF_KIND_FUNC);
	fields->data_at = member_at(types, "bpf_perf_event_data_kern", "data");
	fields->convert = convert > 0 && fields->data_at >= 0 ? convert : 0;
	for (unsigned i = 0; i < FIELD_COUNT; i++)
		fields->at[i] = names[i] ? member_at(types, "perf_sample_data", names[i]) : -1;
	btf__free(types);
}
