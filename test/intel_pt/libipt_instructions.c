/* libipt_instructions TRACE [FILE OFFSET SIZE ADDRESS]...: the addresses of the instructions that libipt decodes from a raw trace, one per
 * line, with the code of these parts of files; "error" where it must synchronize anew. */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>

static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		return NULL;
	*size = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*size + 1);
	if (bytes && fread(bytes, 1, *size, file) != *size)
		bytes = NULL;
	fclose(file);
	return bytes;
}

static void print_instructions(struct pt_insn_decoder *decoder)
{
	int status;
	while ((status = pt_insn_sync_forward(decoder)) >= 0) {
		while (status >= 0) {
			struct pt_event event;
			struct pt_insn insn;
			while (status >= 0 && status & pts_event_pending)
				status = pt_insn_event(decoder, &event, sizeof event);
			if (status < 0)
				break;
			insn.ip = 0;
			status = pt_insn_next(decoder, &insn, sizeof insn);
			if (insn.ip && (status >= 0 || insn.iclass != ptic_error))
				printf("%llx\n", (unsigned long long)insn.ip);
		}
		if (status == -pte_eos)
			return;
		printf("error %s\n", pt_errstr(pt_errcode(status)));
	}
}

int main(int argc, char **argv)
{
	struct pt_config config;
	size_t size;
	pt_config_init(&config);
	config.begin = argc > 1 ? read_file(argv[1], &size) : NULL;
	if (!config.begin)
		return 2;
	config.end = config.begin + size;
	struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(&config);
	struct pt_image *image = decoder ? pt_insn_get_image(decoder) : NULL;
	for (int i = 2; image && i + 3 < argc; i += 4)
		if (pt_image_add_file(image, argv[i], strtoull(argv[i + 1], NULL, 0), strtoull(argv[i + 2], NULL, 0), NULL,
			strtoull(argv[i + 3], NULL, 0)) < 0)
			return 2;
	if (!image)
		return 2;
	print_instructions(decoder);
	pt_insn_free_decoder(decoder);
	return 0;
}
