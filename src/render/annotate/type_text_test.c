#include "render/annotate/type_text.h"

#include "unit.h"

TEST("statistics name the reasons that occur, and sum up instructions")
{
	struct data_statistics statistics = { .total = 4 };
	struct writer out;
	statistics.results[ACCESS_FOUND] = 1;
	statistics.results[ACCESS_NO_MEMORY] = 2;
	statistics.results[ACCESS_NO_TYPE] = 1;
	vec_push(&statistics.instructions, ((struct data_instruction){ "movq", 1, 2 }));
	vec_push(&statistics.instructions, ((struct data_instruction){ "leaq", 0, 1 }));
	writer_open(&out, -1, 0);
	type_statistics_print(&statistics, &out);
	type_instructions_print(&statistics, &out);
	writer_add(&out, "", 1);
	EXPECT_STR(out.buffer,
		"Annotate data type stats:\n"
		"total 4, ok 1 (25.0%), bad 3 (75.0%)\n"
		"-----------------------------------------------------------\n"
		"         2 : no_mem_ops\n"
		"         1 : no_typeinfo\n"
		"\n"
		"Annotate Instruction stats\n"
		"total 4, ok 1 (25.0%), bad 3 (75.0%)\n"
		"\n"
		"  Name/opcode         :  Good   Bad\n"
		"-----------------------------------------------------------\n"
		"  movq                :     1     2\n"
		"  leaq                :     0     1\n"
		"\n");
	writer_fini(&out);
	data_statistics_fini(&statistics);
}
