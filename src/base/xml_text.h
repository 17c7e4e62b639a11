/* Foreign text as the content or an attribute of XML: any bytes remain text. */
#pragma once
#include <stddef.h>

#include "base/writer.h"

/* Escapes markup. What XML does not allow (controls, bytes that are not UTF-8, non-characters) and what would turn the direction
 * of writing around becomes U+FFFD; newlines are unchanged. */
void xml_text(struct writer *out, const char *text, size_t len);

/* Bytes of the first `columns` columns of a text as xml_text shows it (wide letters take two); its whole length where it fits. */
size_t text_columns_prefix(const char *text, size_t len, size_t columns);
