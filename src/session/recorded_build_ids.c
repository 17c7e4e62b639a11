#include "session/recorded_build_ids.h"

void recorded_build_ids_take(struct model *model, const struct header *header, size_t *taken)
{
	for (; *taken < header->build_ids.count; ++*taken) {
		const struct build_id_entry *row = &header->build_ids.items[*taken];
		if ((row->misc & RECORD_MISC_CPUMODE_MASK) == RECORD_MISC_GUEST_USER)
			continue; /* of a file of a virtual machine, which may have the path of another one of the host */
		const struct module_identity identity = { .maj = row->maj, .min = row->min, .ino = row->ino,
			.ino_generation = row->ino_generation };
		model_set_build_id(model, row->filename, row->misc, row->one_of_many ? &identity : NULL, row->id.bytes, row->id.len);
	}
}
