#include "cmd/missing_files.h"

#include "cmd/test_cli.h"
#include "image/test_folder.h"

/* A session with modules whose files are no valid ELF files. */
struct damaged {
	struct test_cli t;
	struct folder f;
	struct source source;
	struct session session;
	struct symbols *symbols;
};

static void damaged_open(struct damaged *d, unsigned count)
{
	*d = (struct damaged){ 0 };
	folder_open(&d->f);
	test_cli_open(&d->t);
	d->session.source = &d->source;
	modules_init(&d->session.model.modules);
	struct symbols_options options = { .no_kernel_lookup = true, .verbose = 1 };
	d->symbols = symbols_new(&d->session.model.modules, &options);
	for (unsigned i = 0; i < count; i++) {
		char name[8];
		snprintf(name, sizeof name, "f%u", i);
		const char *path = folder_write(&d->f, name, "\177ELF and no more", 16);
		symbols_load(d->symbols, modules_file(&d->session.model.modules, path, MODULE_FILE, NULL));
	}
}

static void damaged_close(struct damaged *d)
{
	symbols_free(d->symbols);
	modules_fini(&d->session.model.modules);
	evlist_fini(&d->source.header.evlist);
	test_cli_close(&d->t);
	folder_close(&d->f);
}

static void expect_names(unsigned count, const char *tail)
{
	struct damaged d;
	char want[512] = "No symbols for ";
	damaged_open(&d, count);
	for (unsigned i = 0; i < count && i < 3; i++)
		sprintf(want + strlen(want), "%s%s/f%u", i ? ", " : "", d.f.root, i);
	strcat(strcat(want, tail), ": the file is no valid ELF file or symbol list (-v shows where they were looked for).\n");
	missing_files_report(&d.t.cli, d.symbols, &d.session, 0);
	EXPECT_STR(test_cli_messages(&d.t), count ? want : "");
	damaged_close(&d);
}

TEST("modules with one fault share a line, which names three of them and counts the others")
{
	expect_names(0, "");
	expect_names(1, "");
	expect_names(3, "");
	expect_names(4, " and 1 more");
	expect_names(6, " and 3 more");
}

TEST("with -v each module has the places where its file was looked for")
{
	struct damaged d;
	damaged_open(&d, 2);
	missing_files_report(&d.t.cli, d.symbols, &d.session, 1);
	const char *said = test_cli_messages(&d.t);
	char want[128];
	snprintf(want, sizeof want, "%s/f1: 0 symbols; looked in\n", d.f.root);
	EXPECT(strstr(said, want) != NULL);
	snprintf(want, sizeof want, "\n  %s/f1: ", d.f.root);
	EXPECT(strstr(said, want) != NULL);
	missing_files_report(&d.t.cli, NULL, &d.session, 1);
	EXPECT_STR(test_cli_messages(&d.t), "");
	damaged_close(&d);
}

TEST("a recording of kernel code without the kernel's address says so, one of user code or without samples does not")
{
	struct damaged d;
	struct attr attr = { .type = ATTR_SOFTWARE, .flags = 1ull << ATTR_EXCLUDE_KERNEL };
	damaged_open(&d, 0);
	d.session.counters.samples = 1;
	evlist_add(&d.source.header.evlist, &attr, NULL, 0, NULL);
	missing_files_report(&d.t.cli, d.symbols, &d.session, 0);
	EXPECT_STR(test_cli_messages(&d.t), "");
	attr.flags = 0;
	evlist_add(&d.source.header.evlist, &attr, NULL, 0, NULL);
	missing_files_report(&d.t.cli, d.symbols, &d.session, 0);
	EXPECT(strstr(test_cli_messages(&d.t), "No symbols of the kernel: the recording lacks its address.") != NULL);
	d.session.counters.samples = 0;
	missing_files_report(&d.t.cli, d.symbols, &d.session, 0);
	EXPECT_STR(test_cli_messages(&d.t), "");
	d.session.counters.samples = 1;
	modules_kernel(&d.session.model.modules, "[kernel.kallsyms]");
	missing_files_report(&d.t.cli, d.symbols, &d.session, 0);
	EXPECT_STR(test_cli_messages(&d.t), "");
	damaged_close(&d);
}
