#include "bpf/type_search.h"

#include <bpf/btf.h>

#include "unit.h"

TEST("ids of types and places of members are those that libbpf finds")
{
	struct type_search types[] = {
		{ "task_struct", TYPE_SEARCH_STRUCTURE }, { "bpf_iter_task", TYPE_SEARCH_FUNCTION }, { "pid_t", TYPE_SEARCH_TYPEDEF },
	};
	struct member_search members[] = { { 0, "pid" }, { 0, "comm" } };
	struct error err = { 0 };
	struct btf *kernel = btf__load_vmlinux_btf();
	if (!kernel || type_search(types, 3, members, 2, &err) < 0) {
		unit_skip("the kernel does not publish its types");
		btf__free(kernel);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		const struct btf_type *type = btf__type_by_id(kernel, types[i].id);
		EXPECT_STR(btf__name_by_offset(kernel, type->name_off), types[i].name);
		EXPECT_INT(btf_kind(type), types[i].kind);
	}
	const struct btf_type *task = btf__type_by_id(kernel, types[0].id);
	int found = 0;
	for (uint16_t i = 0; i < btf_vlen(task); i++)
		for (size_t k = 0; k < 2; k++)
			if (strcmp(btf__name_by_offset(kernel, btf_members(task)[i].name_off), members[k].name) == 0) {
				EXPECT_INT(members[k].at * 8, btf_member_bit_offset(task, i));
				found++;
			}
	EXPECT_INT(found, 2);
	btf__free(kernel);
}

TEST("a type or a member that the kernel lacks is an error with its name")
{
	struct type_search none = { "no_such_structure", TYPE_SEARCH_STRUCTURE }, task = { "task_struct", TYPE_SEARCH_STRUCTURE };
	struct member_search member = { 0, "no_such_member" };
	struct error err = { 0 };
	EXPECT(type_search(&none, 1, NULL, 0, &err) < 0);
	EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
	EXPECT(strstr(err.text, "no_such_structure") || strstr(err.text, "CONFIG_DEBUG_INFO_BTF"));
	EXPECT(type_search(&task, 1, &member, 1, &err) < 0);
	EXPECT(strstr(err.text, "no_such_member") || strstr(err.text, "CONFIG_DEBUG_INFO_BTF"));
}
