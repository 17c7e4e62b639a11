/* A flame tree as folded text: "root;frame;frame weight" per line, sorted as bytes. The format that FlameGraph, speedscope and
 * others read. Independent of the source of the tree. */
#pragma once
#include "analysis/flame/flame_tree.h"
#include "base/writer.h"

/* Siblings must differ in name. The root "all" is left out; so are lines of weight 0. */
void folded_write(struct writer *out, const struct flame_tree *tree);
