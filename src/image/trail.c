#include "image/trail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void image_trail_fini(struct image_trail *trail)
{
	vec_fini(&trail->tries);
	arena_fini(&trail->arena);
}

void image_trail_note(struct image_trail *trail, const char *root, const char *path, char origin, enum image_finding finding)
{
	if (!trail)
		return;
	size_t root_len = strlen(root), len = strlen(path);
	char *text = arena_bytes(&trail->arena, root_len + len + 1);
	memcpy(text, root, root_len);
	memcpy(text + root_len, path, len + 1);
	vec_push(&trail->tries, ((struct image_try){ .path = text, .origin = origin, .finding = finding }));
}

void image_trail_mark(struct image_trail *trail, enum image_finding finding)
{
	if (trail && trail->tries.count)
		trail->tries.items[trail->tries.count - 1].finding = finding;
}

void image_trail_build(struct image_trail *trail, const uint8_t *id, uint8_t len)
{
	if (!trail || !trail->tries.count)
		return;
	struct image_try *last = &trail->tries.items[trail->tries.count - 1];
	last->build_id_len = len < ELF_BUILD_ID_MAX ? len : ELF_BUILD_ID_MAX;
	memcpy(last->build_id, id, last->build_id_len);
}

enum image_finding image_finding_of(const struct error *err)
{
	switch (err->kind) {
	case ERROR_FORMAT:
		return err->sys == ENOEXEC ? IMAGE_NOT_ELF : IMAGE_DAMAGED;
	case ERROR_LIMIT:
		return IMAGE_DAMAGED;
	case ERROR_PERMISSION:
		return IMAGE_REFUSED;
	case ERROR_SYSTEM:
		return err->sys == ENOENT || err->sys == ENOTDIR ? IMAGE_ABSENT : IMAGE_REFUSED;
	default:
		return IMAGE_ABSENT;
	}
}

const char *image_finding_text(enum image_finding finding)
{
	static const char *const texts[] = {
		[IMAGE_ABSENT] = "not there",
		[IMAGE_REFUSED] = "cannot be read",
		[IMAGE_DAMAGED] = "not a valid ELF file",
		[IMAGE_NOT_ELF] = "not an ELF file",
		[IMAGE_OTHER_BUILD] = "another build",
		[IMAGE_UNUSED] = "matches, but lacks the requested content",
		[IMAGE_USED] = "used",
		[IMAGE_OUTDATED] = "out of date",
		[IMAGE_UNWRITTEN] = "cannot be written",
	};
	return texts[finding];
}
