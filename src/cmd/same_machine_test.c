#include "cmd/same_machine.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "data/source.h"
#include "data/test_recording.h"
#include "image/recorded_process.h"
#include "image/test_folder.h"

static void expect_host(const char *host, bool here)
{
	struct folder f;
	struct source *source;
	struct error err = { 0 };
	struct source_options options = { .force = true };
	struct recording *r = recording_new(false);
	folder_open(&f);
	begin_file(r, 1);
	end_data(r, r->len);
	size_t table = begin_features(r, host ? 1u << FEATURE_HOSTNAME : 0), at = r->len;
	if (host) {
		put_string(r, host);
		end_feature(r, &table, at);
	}
	EXPECT_INT(source_open(&source, folder_write(&f, "perf.data", r->bytes, r->len), &options, &err), 0);
	EXPECT_INT(recorded_here(&source->header), here);
	source->header.captured = 77;
	EXPECT_INT(recorded_until(&source->header), here ? 77 : 0);
	source->header.pipe = true;
	EXPECT_INT(recorded_until(&source->header), here ? RECORDED_NOW : 0);
	source->header.pipe = false;
	source_close(source);
	free(r);
	folder_close(&f);
}

TEST("a recording is of this machine if its host has this name, and its processes were seen until it was made")
{
	struct utsname uts;
	char longer[256];
	EXPECT(uname(&uts) == 0);
	snprintf(longer, sizeof longer, "%sx", uts.nodename);
	expect_host(uts.nodename, true);
	expect_host(longer, false);
	expect_host("", false);
	expect_host(NULL, false);
}
