#include "elf/btf_types.h"

#include "elf/btf_maker.h"
#include "unit.h"

static void expect_name(const struct btf_types *types, uint32_t id, const char *name)
{
	CLEANUP_STR struct str text = { 0 };
	btf_types_name(types, id, &text);
	EXPECT_STR(str_text(&text), name);
}

TEST("a function's parameters have names, types and sizes")
{
	struct btf_made made = btf_make();
	struct btf_types types;
	struct btf_type work, type;
	struct btf_field field;
	uint64_t size;
	struct error err;
	EXPECT_INT(btf_types_open(&types, (struct span){ .data = (const void *)&made, .len = sizeof made }, NULL, &err), 0);
	EXPECT_INT(types.count, COPY_FUNCTION);
	EXPECT(!btf_types_function(&types, "node", &work));
	EXPECT(btf_types_function(&types, "work", &work));
	EXPECT(btf_type_field(&work, 1, &field) && field.type == UCHAR_TYPE);
	EXPECT_STR(field.name, "c");
	EXPECT(!btf_type_field(&work, 2, &field));
	EXPECT(btf_types_real(&types, CONST_INT, &type) && type.id == INT && btf_type_is_signed(&type));
	EXPECT(btf_types_real(&types, UCHAR_TYPE, &type) && !btf_type_is_signed(&type));
	EXPECT(btf_types_size(&types, TEXT_TYPE, &size) && size == 8);
	EXPECT(!btf_types_size(&types, WORK_TYPE, &size));
	expect_name(&types, NODE_POINTER, "struct node*");
	expect_name(&types, TEXT_TYPE, "char[8]");
	expect_name(&types, CONST_INT, "const int");
	expect_name(&types, 99, "");
	btf_types_close(&types);
}

TEST("members are found in unnamed members, too, and bit fields have their bits")
{
	struct btf_made made = btf_make();
	struct btf_types types;
	struct btf_type node;
	struct btf_field field;
	struct error err;
	EXPECT_INT(btf_types_open(&types, (struct span){ .data = (const void *)&made, .len = sizeof made }, NULL, &err), 0);
	EXPECT(btf_types_get(&types, NODE_TYPE, &node));
	EXPECT(btf_types_member(&types, &node, "a", &field) && field.offset_bits == 64 && field.bits == 0);
	EXPECT(btf_types_member(&types, &node, "text", &field) && field.offset_bits == 128 && field.type == TEXT_TYPE);
	EXPECT(btf_types_member(&types, &node, "bit", &field) && field.offset_bits == 194 && field.bits == 3);
	EXPECT(!btf_types_member(&types, &node, "missing", &field) && !btf_types_member(&types, &node, "", &field));
	btf_types_close(&types);
}

TEST("ids and names of a module follow those of the kernel")
{
	struct btf_made made = btf_make(), more = btf_make();
	struct btf_types types, module;
	struct btf_type type;
	struct error err;
	uint32_t *own = more.types;
	*own++ = sizeof BTF_NAMES + WORK, *own++ = BTF_INFO(BTF_TYPEDEF, 0), *own++ = NODE_POINTER;
	more.head.types_size = 12;
	EXPECT_INT(btf_types_open(&types, (struct span){ .data = (const void *)&made, .len = sizeof made }, NULL, &err), 0);
	EXPECT_INT(btf_types_open(&module, (struct span){ .data = (const void *)&more, .len = sizeof more }, &types, &err), 0);
	expect_name(&module, COPY_FUNCTION + 1, "work");
	expect_name(&module, NODE_POINTER, "struct node*");
	EXPECT(btf_types_real(&module, COPY_FUNCTION + 1, &type) && type.id == NODE_POINTER);
	EXPECT(!btf_types_get(&module, COPY_FUNCTION + 2, &type));
	btf_types_close(&module);
	btf_types_close(&types);
}

TEST("damaged types are refused, or unknown")
{
	struct btf_made made = btf_make();
	struct btf_types types;
	struct btf_type type;
	struct error err;
	struct span bytes = { .data = (const void *)&made, .len = sizeof made };
	uint64_t size;
	made.types[21] = NODE_POINTER; /* a pointer to itself */
	EXPECT_INT(btf_types_open(&types, bytes, NULL, &err), 0);
	expect_name(&types, NODE_POINTER, "********************************");
	btf_types_close(&types);
	made.types[24] = CONST_INT;
	EXPECT_INT(btf_types_open(&types, bytes, NULL, &err), 0);
	EXPECT(!btf_types_real(&types, CONST_INT, &type) && !btf_types_size(&types, CONST_INT, &size));
	btf_types_close(&types);
	for (size_t len = 0; len < sizeof made.head + sizeof BTF_TYPES + sizeof BTF_NAMES; len++)
		if (btf_types_open(&types, (struct span){ .data = bytes.data, .len = len }, NULL, &err) == 0)
			unit_fail(__FILE__, __LINE__, "%zu bytes are accepted", len);
	made.head.types_size -= 4;
	EXPECT(btf_types_open(&types, bytes, NULL, &err) < 0);
	btf_types_close(&types);
}
