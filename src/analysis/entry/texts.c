#include "analysis/entry/texts.h"

#include <stdlib.h>

#include "base/memory.h"

struct source_texts *source_texts_new(void)
{
	return memory_zero(1, sizeof(struct source_texts));
}

void source_texts_free(struct source_texts *texts)
{
	if (!texts)
		return;
	strtab_fini(&texts->texts);
	idmap_fini(&texts->of_place);
	free(texts);
}

const char *collapse_text(const struct profile *profile, const uint64_t *key)
{
	return strtab_text(&profile->source_texts->texts, (uint32_t)(key[1] >> COLLAPSE_TEXT_SHIFT));
}
