#include "model/build_ids.h"

#include "abi/record.h"

enum { KMODULE_NAME_MAX = 256, SAME_INODE_MAX = 64 /* limit for the rows of one inode */ };

void known_build_ids_fini(struct known_build_ids *known)
{
	strtab_fini(&known->names);
	vec_fini(&known->rows);
	strtab_fini(&known->kmodules);
	vec_fini(&known->kmodule_rows);
	vec_fini(&known->files);
	idmap_fini(&known->file_of);
	known->kernel_row = 0;
}

/* Updates the kernel's row and the rows of kernel modules; the row with the lowest number wins. A row that once had kernel mode is found
 * by its short name from then on. */
static void kernel_rows_update(struct known_build_ids *known, uint32_t row, unsigned mode)
{
	char name[KMODULE_NAME_MAX];
	if (mode != RECORD_MISC_KERNEL && mode != RECORD_MISC_GUEST_KERNEL)
		return;
	if (!kmodule_name(known->rows.items[row].filename, name, sizeof name)) {
		if (mode == RECORD_MISC_KERNEL && (!known->kernel_row || row < known->kernel_row - 1))
			known->kernel_row = row + 1;
		return;
	}
	uint32_t id = strtab_add(&known->kmodules, name, strlen(name));
	if (id == known->kmodule_rows.count)
		vec_push(&known->kmodule_rows, row);
	else if (row < known->kmodule_rows.items[id])
		known->kmodule_rows.items[id] = row;
}

static uint64_t file_row_hash(uint32_t row, uint32_t maj, uint32_t min, uint64_t ino)
{
	return hash_pair(hash_pair((uint64_t)maj << 32 | min, ino), row);
}

static void file_row_add(struct known_build_ids *known, uint32_t row, const struct module_identity *identity, const uint8_t *id,
	uint8_t len)
{
	uint64_t place = file_row_hash(row, identity->maj, identity->min, identity->ino);
	uint32_t before = idmap_get(&known->file_of, place);
	struct file_build_id *file = vec_add(&known->files);
	file->identity = *identity;
	file->row = row;
	file->next = before == IDMAP_NONE ? 0 : before + 1;
	file->len = len;
	memcpy(file->id, id, len);
	idmap_set(&known->file_of, place, (uint32_t)known->files.count - 1);
}

const uint8_t *known_build_ids_module(const struct known_build_ids *known, const struct module *module, uint8_t *len)
{
	uint32_t row = strtab_find(&known->names, module->name, strlen(module->name));
	if (row == UINT32_MAX)
		return NULL;
	const struct known_build_id *of_name = &known->rows.items[row];
	uint32_t at = module->ino ? idmap_get(&known->file_of, file_row_hash(row, module->maj, module->min, module->ino)) : IDMAP_NONE;
	for (unsigned i = 0; at != IDMAP_NONE && i < SAME_INODE_MAX; i++) {
		const struct file_build_id *file = &known->files.items[at];
		*len = file->len;
		if (file->row == row && module_is_file(module, &file->identity))
			return file->id;
		at = file->next ? file->next - 1 : IDMAP_NONE;
	}
	*len = of_name->len;
	return of_name->len && !of_name->of_files ? of_name->id : NULL;
}

bool known_build_ids_set(struct known_build_ids *known, const char *filename, uint16_t misc, const struct module_identity *identity,
	const uint8_t *id, uint8_t len)
{
	uint32_t row = strtab_add(&known->names, filename, strlen(filename));
	bool fresh = row == known->rows.count;
	if (fresh)
		(void)vec_add(&known->rows);
	struct known_build_id *entry = &known->rows.items[row];
	entry->filename = strtab_text(&known->names, row);
	entry->misc = misc;
	if (identity) {
		file_row_add(known, row, identity, id, len);
		known->rows.items[row].of_files = true;
	} else {
		entry->len = len;
		memcpy(entry->id, id, len);
	}
	kernel_rows_update(known, row, misc & RECORD_MISC_CPUMODE_MASK);
	return fresh;
}

const struct known_build_id *known_build_ids_file(const struct known_build_ids *known, const char *filename)
{
	uint32_t row = strtab_find(&known->names, filename, strlen(filename));
	return row == UINT32_MAX ? NULL : &known->rows.items[row];
}

const struct known_build_id *known_build_ids_kmodule(const struct known_build_ids *known, const char *short_name)
{
	uint32_t id = strtab_find(&known->kmodules, short_name, strlen(short_name));
	return id == UINT32_MAX ? NULL : &known->rows.items[known->kmodule_rows.items[id]];
}

const struct known_build_id *known_build_ids_kernel(const struct known_build_ids *known)
{
	return known->kernel_row ? &known->rows.items[known->kernel_row - 1] : NULL;
}
