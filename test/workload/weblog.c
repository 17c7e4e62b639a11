/* A program as people write them, for the first profile that somebody sees: it reads the log of a web server line by line, adds up
 * requests by page, sorts the pages, writes a table and compresses it. The work lies in functions of many sizes, in libc and in the kernel.
 *
 *   weblog [LINES] */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
enum { BUCKETS = 1 << 14, LINE = 256, PAGES = 6000, WINDOW = 2048 };

struct page {
	char path[96];
	unsigned hits, bytes, errors;
	struct page *next;
};

struct request {
	char path[96];
	unsigned status, bytes, minute;
};

struct log {
	struct page *buckets[BUCKETS];
	struct page **pages;
	unsigned count, capacity, minutes[1440];
};

static unsigned seed = 12345;

NOINLINE static unsigned random_number(unsigned bound)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % bound;
}

NOINLINE static void write_log(FILE *file, unsigned lines)
{
	static const char *const topics[] = { "news", "shop/cart", "shop/item", "static%2Fimages", "user%20profile", "api/v2/search" };
	for (unsigned i = 0; i < lines; i++) {
		unsigned page = random_number(PAGES), skewed = random_number(page + 1);
		fprintf(file, "10.0.%u.%u - - [21/Nov/2026:%02u:%02u:%02u +0000] \"GET /%s/%05u.html HTTP/1.1\" %u %u\n", i % 7, page % 250,
			i / 3600 % 24, i / 60 % 60, i % 60, topics[page % 6], skewed, page % 50 ? 200 : 404, 200 + skewed % 9000);
	}
}

NOINLINE static unsigned parse_number(const char **at)
{
	unsigned number = 0;
	while (isdigit((unsigned char)**at))
		number = number * 10 + (unsigned)(*(*at)++ - '0');
	return number;
}

NOINLINE static unsigned parse_time(const char *at)
{
	at = strchr(at, ':');
	if (!at)
		return 0;
	at++;
	unsigned hours = parse_number(&at);
	at += *at == ':';
	return hours * 60 + parse_number(&at);
}

NOINLINE static void decode_path(char *to, const char *from, size_t room)
{
	for (size_t i = 0; *from && *from != ' ' && i + 1 < room; i++) {
		if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
			char digits[] = { from[1], from[2], '\0' };
			*to++ = (char)strtol(digits, NULL, 16);
			from += 3;
		} else {
			*to++ = (char)tolower((unsigned char)*from++);
		}
	}
	*to = '\0';
}

NOINLINE static int parse_request(const char *line, struct request *request)
{
	const char *time = strchr(line, '['), *quote = strstr(line, "\"GET "), *end = quote ? strchr(quote + 1, '"') : NULL;
	if (!time || !end)
		return 0;
	request->minute = parse_time(time);
	decode_path(request->path, quote + 5, sizeof request->path);
	end += 2;
	request->status = parse_number(&end);
	end += *end == ' ';
	request->bytes = parse_number(&end);
	return 1;
}

NOINLINE static unsigned hash_path(const char *path)
{
	unsigned hash = 2166136261u;
	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619u;
	return hash % BUCKETS;
}

NOINLINE static struct page *find_page(struct log *log, const char *path)
{
	struct page **bucket = &log->buckets[hash_path(path)];
	for (struct page *page = *bucket; page; page = page->next)
		if (strcmp(page->path, path) == 0)
			return page;
	if (log->count == log->capacity) {
		log->capacity = log->capacity ? log->capacity * 2 : 64;
		log->pages = realloc(log->pages, log->capacity * sizeof(struct page *));
	}
	struct page *page = calloc(1, sizeof *page);
	if (!page || !log->pages)
		abort();
	snprintf(page->path, sizeof page->path, "%s", path);
	page->next = *bucket;
	*bucket = page;
	return log->pages[log->count++] = page;
}

NOINLINE static void add_request(struct log *log, const struct request *request)
{
	struct page *page = find_page(log, request->path);
	page->hits++;
	page->bytes += request->bytes;
	page->errors += request->status >= 400;
	log->minutes[request->minute % 1440]++;
}

NOINLINE static void read_log(struct log *log, FILE *file)
{
	char line[LINE];
	struct request request;
	rewind(file);
	while (fgets(line, sizeof line, file))
		if (parse_request(line, &request))
			add_request(log, &request);
}

NOINLINE static int compare_pages(const void *a, const void *b)
{
	const struct page *x = *(struct page *const *)a, *y = *(struct page *const *)b;
	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return strcmp(x->path, y->path);
}

NOINLINE static size_t escape_html(char *to, const char *from)
{
	size_t len = 0;
	for (; *from; from++)
		len += (size_t)(*from == '&' ? sprintf(to + len, "&amp;") : *from == '/' ? sprintf(to + len, "&#47;") : (to[len] = *from, 1));
	return len;
}

NOINLINE static size_t format_table(const struct log *log, char *table)
{
	size_t len = 0;
	for (unsigned i = 0; i < log->count; i++) {
		len += (size_t)sprintf(table + len, "<tr><td>%u<td>%.1f%%<td>", log->pages[i]->hits,
			100.0 * log->pages[i]->errors / log->pages[i]->hits);
		len += escape_html(table + len, log->pages[i]->path);
		table[len++] = '\n';
	}
	return len;
}

NOINLINE static size_t find_match(const char *text, size_t at, size_t len, size_t *distance)
{
	size_t best = 0;
	for (size_t from = at > WINDOW ? at - WINDOW : 0; from < at; from++) {
		size_t same = 0;
		while (at + same < len && same < 64 && text[from + same] == text[at + same])
			same++;
		if (same > best) {
			best = same;
			*distance = at - from;
		}
	}
	return best;
}

NOINLINE static size_t compress_table(const char *table, size_t len, char *packed)
{
	size_t out = 0, distance = 0;
	for (size_t at = 0; at < len;) {
		size_t same = find_match(table, at, len, &distance);
		if (same < 4)
			packed[out++] = table[at++];
		else
			out += (size_t)sprintf(packed + out, "\1%zx,%zx", distance, same), at += same;
	}
	return out;
}

NOINLINE static void save(int file, const char *packed, size_t len)
{
	for (size_t at = 0; at < len; at += 512)
		if (pwrite(file, packed + at, len - at < 512 ? len - at : 512, (off_t)at) < 0)
			perror("weblog");
}

int main(int argc, char **argv)
{
	unsigned lines = argc > 1 ? (unsigned)atoi(argv[1]) : 600000;
	static struct log log;
	FILE *file = tmpfile();
	if (!file)
		return 1;
	write_log(file, lines);
	read_log(&log, file);
	if (!log.count)
		return 1;
	qsort(log.pages, log.count, sizeof *log.pages, compare_pages);
	char *table = malloc((size_t)log.count * 700), *packed = malloc((size_t)log.count * 700);
	if (!table || !packed)
		return 1;
	size_t len = format_table(&log, table), shown = len < 200000 ? len : 200000;
	size_t small = compress_table(table, shown, packed);
	save(fileno(file), table, len);
	printf("%u lines, %u pages, %zu bytes, %zu in %zu packed\n", lines, log.count, len, shown, small);
	return 0;
}
