/* A flame tree as a table, which the browser copies. */
#pragma once
#include "analysis/flame/flame_tree.h"
#include "render/tui/snapshot.h"

struct snapshot *flame_snapshot(const struct flame_tree *tree, const char *event);
