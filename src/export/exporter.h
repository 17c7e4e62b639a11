/* Resolved samples → rows of a database: the sink of `data export`. Workers resolve places; the owner gives ids in the order of delivery
 * and writes the rows. Contents are those of perf's export scripts: tracepoints are left out, addresses without a symbol have one of
 * their own, "unknown", and a thread's comm is that of the last program that it has executed. Knows no option and no file. */
#pragma once
#include "export/database.h"
#include "session/session.h"

struct symbols;

struct exporter;
/* All arguments are borrowed. */
struct exporter *exporter_new(struct database *database, struct session *session, struct symbols *symbols);
void exporter_free(struct exporter *exporter); /* accepts NULL */
struct sink exporter_sink(struct exporter *exporter);
/* After the session: finishes calls that have not returned. */
void exporter_end(struct exporter *exporter);
