#include "analysis/sched/chain.h"

#include "session/session.h"

enum { SCHEDULER_FRAMES = 2 };

/* NULL: unknown. */
static const char *function_at(const struct resolved *r, struct symbols *symbols, const struct location *location)
{
	if (location->module == MODULE_ID_NONE)
		return NULL;
	const struct module *module = modules_get(&r->session->model.modules, location->module);
	uint32_t symbol = symbols_lookup(symbols, module, location->offset);
	return symbol ? symbols_name(symbols, module, symbol) : NULL;
}

static bool is_scheduler(const char *name)
{
	return strcmp(name, "schedule") == 0 || strcmp(name, "__schedule") == 0 || strcmp(name, "preempt_schedule") == 0;
}

void sched_chain_add(const struct resolved *r, struct symbols *symbols, struct sched_chain_style style, struct str *out)
{
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, (size_t)style.max_stack + SCHEDULER_FRAMES);
	bool first = true;
	for (size_t i = 0; i < chain.count; i++) {
		const char *name = function_at(r, symbols, chain.frames[i]);
		if (name && is_scheduler(name))
			continue;
		if (!first)
			str_puts(out, " <-");
		if (!first || !style.folded)
			str_putc(out, ' ');
		if (!name && style.folded)
			str_printf(out, "%#llx", (unsigned long long)chain.frames[i]->address);
		else
			str_puts(out, name ? name : "[unknown]");
		first = false;
	}
}

enum wait_reason sched_chain_reason(const struct resolved *r, struct symbols *symbols)
{
	enum { FRAMES = 16 };
	const char *names[FRAMES];
	struct chain chain = resolved_chain(r, CHAIN_INNERMOST_FIRST, FRAMES);
	size_t count = 0;
	for (size_t i = 0; i < chain.count && i < FRAMES; i++)
		if (chain.frames[i]->cpumode == RECORD_MISC_KERNEL)
			names[count++] = function_at(r, symbols, chain.frames[i]);
	return wait_reason_of_functions(names, count);
}
