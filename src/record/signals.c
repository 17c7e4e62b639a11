#include "record/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

static const int held[SIGNALS_HELD] = { SIGINT, SIGTERM, SIGCHLD };

int signals_open(struct signals *signals, bool user, struct error *err)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL }, ignore = { .sa_handler = SIG_IGN };
	sigset_t mask;
	*signals = (struct signals){ .fd = -1 };
	sigemptyset(&mask);
	for (int i = 0; i < SIGNALS_HELD; i++)
		sigaddset(&mask, held[i]);
	if (user)
		sigaddset(&mask, SIGUSR2);
	if (sigprocmask(SIG_BLOCK, &mask, &signals->old_mask) != 0)
		return error_system(err, "cannot hold signals");
	/* one that is ignored (in the background of a shell) would never come */
	for (int i = 0; i < SIGNALS_HELD; i++)
		sigaction(held[i], &usual, &signals->old[i]);
	sigaction(SIGUSR2, user ? &usual : &ignore, &signals->old[SIGNALS_HELD]);
	signals->held = true;
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? error_system(err, "cannot hold signals") : 0;
}

void signals_restore(const struct signals *signals)
{
	if (!signals->held)
		return;
	for (int i = 0; i < SIGNALS_HELD; i++)
		sigaction(held[i], &signals->old[i], NULL);
	sigaction(SIGUSR2, &signals->old[SIGNALS_HELD], NULL);
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void signals_close(struct signals *signals)
{
	if (signals->fd >= 0)
		close(signals->fd);
	signals_restore(signals);
	*signals = (struct signals){ .fd = -1 };
}
