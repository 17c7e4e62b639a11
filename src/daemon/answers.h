/* What a daemon answers: the text of its list, of signals and of pings, in perf's layouts. Opens no connection. */
#pragma once
#include "base/str.h"
#include "daemon/request.h"
#include "daemon/session.h"

struct answers {
	const char *base_path, *record_name;
	int base;
	time_t start;             /* of the daemon */
	struct session *sessions;
	size_t count;
};

void answer_list(const struct answers *from, const struct request *request, struct str *to);
/* Sends SIGUSR2 to one session or all. */
void answer_signal(const struct answers *from, const struct request *request, struct str *to);
void answer_ping(const struct answers *from, const struct request *request, struct str *to);
