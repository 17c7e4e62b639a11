#include "export/database.h"

void database_add(struct database *database, enum export_table table, const struct value *values)
{
	if (database->error.kind != ERROR_NONE || !schema_has(&database->schema, table))
		return;
	database->has_rows[table] = true;
	database->ops->add(database, table, values);
}

int database_end(struct database *database, struct error *err)
{
	if (database->error.kind != ERROR_NONE) {
		*err = database->error;
		return -1;
	}
	return database->ops->end(database, err);
}

void database_close(struct database *database)
{
	if (database)
		database->ops->close(database);
}
