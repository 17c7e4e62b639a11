/* The names of branch types, by the flags of a branch (enum trace_flag). */
#pragma once
#include "export/database.h"

void branch_types_add(struct database *database);
