#include "record/acquire/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

/* Not faults (SIGSEGV …) and signals that stop a process. `always`: also if the caller ignores it, as the background job of a shell
 * ignores SIGINT; not so those that nohup ignores. */
static const struct {
	int number;
	bool always;
} ending[] = {
	{ SIGINT, true }, { SIGTERM, true }, { SIGHUP, false }, { SIGQUIT, false }, { SIGPIPE, false }, { SIGALRM, false },
	{ SIGUSR1, false }, { SIGXCPU, false }, { SIGXFSZ, false }, { SIGVTALRM, false }, { SIGPROF, false }, { SIGIO, false },
	{ SIGPWR, false },
#ifdef SIGSTKFLT
	{ SIGSTKFLT, false },
#endif
};

static void set_action(struct signals *signals, int number, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };
	signals->changed[signals->count].number = number;
	if (sigaction(number, &action, &signals->changed[signals->count].old) == 0)
		signals->count++;
}

static bool is_ignored(int number)
{
	struct sigaction now;
	return sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

int signals_open(struct signals *signals, bool user, struct error *err)
{
	sigset_t mask;
	*signals = (struct signals){ .fd = -1 };
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	if (user)
		sigaddset(&mask, SIGUSR2);
	for (unsigned i = 0; i < sizeof ending / sizeof *ending; i++)
		if (ending[i].always || !is_ignored(ending[i].number))
			sigaddset(&mask, ending[i].number);
	if (sigprocmask(SIG_BLOCK, &mask, &signals->old_mask) != 0)
		return error_system(err, "cannot hold signals");
	/* an ignored signal would never arrive */
	for (unsigned i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigismember(&mask, ending[i].number))
			set_action(signals, ending[i].number, SIG_DFL);
	set_action(signals, SIGCHLD, SIG_DFL);
	set_action(signals, SIGUSR2, user ? SIG_DFL : SIG_IGN);
	signals->active = true;
	signals->fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals->fd < 0 ? error_system(err, "cannot hold signals") : 0;
}

void signals_read(struct signals *signals)
{
	struct signalfd_siginfo info;
	while (signals->fd >= 0 && read(signals->fd, &info, sizeof info) == (ssize_t)sizeof info) {
		int number = (int)info.ssi_signo;
		bool by_write = (number == SIGPIPE || number == SIGXFSZ) && info.ssi_pid == (uint32_t)getpid();
		if (number == SIGCHLD)
			signals->child = true;
		else if (number == SIGUSR2)
			signals->user = true;
		else if (!by_write)
			signals->ended_by = number;
	}
}

void signals_let_quit(const struct signals *signals)
{
	sigset_t quit;
	if (!signals->active || sigismember(&signals->old_mask, SIGQUIT))
		return;
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	sigprocmask(SIG_UNBLOCK, &quit, NULL);
}

static void signals_restore(const struct signals *signals)
{
	if (!signals->active)
		return;
	for (unsigned i = 0; i < signals->count; i++)
		sigaction(signals->changed[i].number, &signals->changed[i].old, NULL);
	sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

void signals_give(const struct signals *signals)
{
	sigset_t user;
	signals_restore(signals);
	sigemptyset(&user);
	sigaddset(&user, SIGUSR2);
	sigprocmask(SIG_UNBLOCK, &user, NULL);
}

void signals_close(struct signals *signals)
{
	signals_read(signals);
	if (signals->fd >= 0)
		close(signals->fd);
	signals_restore(signals);
	signals->fd = -1;
	signals->active = false;
}
