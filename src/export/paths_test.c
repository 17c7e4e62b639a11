#include "export/paths.h"

#include "unit.h"

TEST("equal triples have one number, and each part distinguishes")
{
	struct triples triples = { 0 };
	bool added;
	EXPECT_INT(triples_add(&triples, (struct triple){ 1, 2, 3 }, &added), 0);
	EXPECT(added);
	EXPECT_INT(triples_add(&triples, (struct triple){ 1, 2, 4 }, &added), 1);
	EXPECT_INT(triples_add(&triples, (struct triple){ 1, 3, 3 }, &added), 2);
	EXPECT_INT(triples_add(&triples, (struct triple){ 2, 2, 3 }, &added), 3);
	EXPECT(added);
	EXPECT_INT(triples_add(&triples, (struct triple){ 1, 2, 3 }, &added), 0);
	EXPECT(!added);
	EXPECT(triples_has(&triples, (struct triple){ 2, 2, 3 }));
	EXPECT(!triples_has(&triples, (struct triple){ 3, 2, 2 }));
	triples_fini(&triples);
}

TEST("a path has the symbol or, without one, the address; the first address shows whether it is in the kernel")
{
	struct call_paths paths;
	call_paths_init(&paths);
	uint32_t known = call_paths_add(&paths, PATH_ROOT, 7, 0x1000), unknown = call_paths_add(&paths, PATH_ROOT, 0, 0x1000);
	EXPECT_INT(known, 1);
	EXPECT_INT(unknown, 2);
	EXPECT_INT(call_paths_add(&paths, PATH_ROOT, 7, 0x2000), known);
	EXPECT_INT(call_paths_add(&paths, PATH_ROOT, 0, 0x2000), 3);
	EXPECT_INT(paths.list.items[known].ip, 0);
	EXPECT_INT(paths.list.items[unknown].ip, 0x1000);
	uint32_t kernel = call_paths_add(&paths, known, 7, 0x8000000000000000);
	EXPECT(paths.list.items[kernel].in_kernel && !paths.list.items[known].in_kernel);
	EXPECT(!paths.list.items[call_paths_add(&paths, known, 9, 0x7fffffffffffffff)].in_kernel);
	EXPECT_INT(paths.list.items[kernel].parent, known);
	call_paths_fini(&paths);
}
