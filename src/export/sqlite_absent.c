/* In a build without SQLite's library. */
#include "export/database.h"

struct database *database_sqlite(int fd, const struct schema *schema, struct error *err)
{
	(void)fd;
	(void)schema;
	error_set(err, ERROR_UNSUPPORTED, "SQLite is not in this build");
	error_hint(err, "`perfuse data export postgresql` writes SQL text");
	return NULL;
}
