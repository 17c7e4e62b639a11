#include "data/chain.h"

#include <string.h>

#include "unit.h"

TEST("a record cut by a chunk's end is moved completely, and consumed bytes are retained until they are released")
{
	struct chain chain = { 0 };
	uint8_t *chunks[8] = { 0 };
	size_t room;
	uint64_t mark = 0;
	/* pieces of 1000 bytes, consumed as records of 1024 */
	for (int piece = 0; piece < 4000; piece++) {
		uint8_t *at = chain_room(&chain, 1000, &room);
		EXPECT(room >= 1000);
		memset(at, piece & 0xff, 1000);
		chain_filled(&chain, 1000);
		while (chain_left(&chain) >= 1024) {
			if (mark < 8 * 1024)
				chunks[mark / 1024] = chain_at(&chain);
			mark += 1024;
			chain_take(&chain, 1024, mark);
		}
	}
	EXPECT(chain.first != chain.last);
	EXPECT_INT(chunks[0][0], 0);
	EXPECT_INT(chunks[1][0], 1);
	EXPECT_INT(chunks[7][1023], 8);
	chain_release(&chain, 1024);
	EXPECT_INT(chunks[1][0], 1);
	chain_release(&chain, mark);
	EXPECT(chain.first == chain.last && chain.spare);
	chain_fini(&chain);
	EXPECT(!chain.first && !chain.spare);
}
