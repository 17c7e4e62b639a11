"""A program with more rights than its user: file capabilities, set-user-ID. The user's environment must not exploit them."""
import os
import shutil
import socket

from suite import process
from suite.process import NOBODY
from suite.tests import Skip, need, need_root

SCRIPT = "#!/bin/sh\ntouch %s\ncat\n"


class Rights:
    """The program with capabilities and without, and a folder of the user who starts it."""
    def __init__(self, c):
        need_root("only root can give a file capabilities")
        self.c = c
        self.folder = c.path("rights")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        os.chown(self.folder, NOBODY, NOBODY)
        self.plain, self.capable = c.path("plain"), c.path("capable")
        for path in (self.plain, self.capable):
            shutil.copy(c.program, path)
            os.chmod(path, 0o755)
        if process.run("setcap", "cap_perfmon,cap_sys_ptrace,cap_syslog=ep", self.capable).returncode != 0:
            raise Skip("this file system has no capabilities")
        self.data = os.path.join(self.folder, "perf.data")
        done = self.run(self.plain, "record", "-e", "cpu-clock:u", "-o", self.data, "-N", "--", "sh", "-c",
                        "i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done")
        need(done.returncode == 0, done.stderr)

    def run(self, *command, terminal=False, **env):
        """As the user; with a terminal for its output, if asked."""
        more = {"user": NOBODY, "cwd": self.folder, "env": self.environment(**env)}
        if not terminal:
            return process.run(*command, seconds=60, **more)
        done = process.on_terminal(*command, **more)
        done.stdout, done.stderr = done.stdout.decode(errors="replace"), ""
        return done

    def environment(self, **env):
        """Of the user, who has no PERF_CONFIG unless a test gives one."""
        variables = process.environment(self.folder)
        del variables["PERF_CONFIG"]
        return {**variables, **env}

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chown(path, NOBODY, NOBODY)
        os.chmod(path, mode)
        return path

    def mark(self):
        return os.path.join(self.folder, "mark")

    def marked(self):
        found = os.path.exists(self.mark())
        if found:
            os.unlink(self.mark())
        return found

    def only_plain(self, what, *words, terminal=False, **env):
        """The program without capabilities follows the environment (else the test could not fail), the one with capabilities does not."""
        done = self.run(self.plain, *words, terminal=terminal, **env)
        need(self.marked(), "%s: is not done at all: %s%s" % (what, done.stdout[:300], done.stderr[:300]))
        done = self.run(self.capable, *words, terminal=terminal, **env)
        need(not self.marked(), "%s: is done with capabilities" % what)
        return done


def test_programs(c):
    """with file capabilities no program of the environment or of the configuration runs: pager, shell, external command"""
    r = Rights(c)
    pager = r.write("pager", SCRIPT % r.mark(), 0o755)
    report = ("report", "--stdio", "-i", r.data)
    for name in ("PERF_PAGER", "PAGER"):
        for value in (pager, pager + " -x", "true; " + pager):
            done = r.only_plain("%s=%s" % (name, value), *report, terminal=True, **{name: value})
            need(done.returncode == 0 and "Overhead" in done.stdout, "%d: %s" % (done.returncode, done.stdout[:300]))
    config = r.write("config", "[pager]\n\treport = %s\n[core]\n\tpager = %s\n" % (pager, pager))
    r.only_plain("PERF_CONFIG", *report, terminal=True, PERF_CONFIG=config)
    r.write("perf-evil", SCRIPT % r.mark(), 0o755)
    r.only_plain("PATH", "evil", PATH=r.folder + ":" + os.environ["PATH"])
    r.only_plain("PERF_EXEC_PATH", "evil", PERF_EXEC_PATH=r.folder)


def test_places(c):
    """with file capabilities the environment selects neither the configuration nor a folder to write to"""
    r = Rights(c)
    config = r.write("config", "[buildid]\n\tdir = %s\n" % r.mark())
    record = ("record", "-e", "cpu-clock:u", "-o", r.data, "--", "true")

    def both(what, made, *words, **env):
        for program, wanted in ((r.plain, True), (r.capable, False)):
            r.run(program, *words, **env)
            path = os.path.join(r.folder, made)
            found = os.path.exists(path)
            shutil.rmtree(path, ignore_errors=True)
            need(found == wanted, "%s: %s with %s" % (what, "written" if found else "not written", os.path.basename(program)))
    both("PERF_CONFIG", "mark", *record, PERF_CONFIG=config)
    os.mkdir(os.path.join(r.folder, "other"))
    os.chown(os.path.join(r.folder, "other"), NOBODY, NOBODY)
    both("HOME", "other/.debug", *record, HOME=os.path.join(r.folder, "other"))


def test_server(c):
    """with file capabilities no server of the environment is asked"""
    r = Rights(c)
    for program, wanted in ((r.plain, True), (r.capable, False)):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(16)
            server.settimeout(60 if wanted else 1.5)
            env = r.environment(DEBUGINFOD_URLS="http://127.0.0.1:%d" % server.getsockname()[1])
            with process.start(program, "report", "--stdio", "-s", "srcline", "-i", r.data, user=NOBODY, env=env, stdout=process.DEVNULL):
                try:
                    server.accept()[0].close()
                    asked = True
                except socket.timeout:
                    asked = False
        need(asked == wanted, "%s is %sasked" % (os.path.basename(program), "" if asked else "not "))


def test_set_user_id(c):
    """a set-user-ID copy does nothing and prints the reason"""
    r = Rights(c)
    for mode, who in ((0o4755, (0, NOBODY)), (0o2755, (NOBODY, 0))):
        path = c.path("set-id")
        shutil.copy(c.program, path)
        os.chown(path, *who)
        os.chmod(path, mode)
        output = os.path.join(r.folder, "set-id.data")
        done = r.run(path, "record", "-e", "cpu-clock:u", "-o", output, "--", "touch", r.mark())
        need(done.returncode == 1 and "set-user-ID" in done.stderr, "%o: %d: %s" % (mode, done.returncode, done.stderr))
        need(not r.marked() and not os.path.exists(output), "%o: it recorded" % mode)
        os.unlink(path)


def test_works(c):
    """with file capabilities an ordinary user records the processes of others, and reads the recording"""
    r = Rights(c)
    with process.start("sh", "-c", "while :; do :; done") as child:  # of root
        done = r.run(r.capable, "record", "-e", "cpu-clock", "-o", r.data, "-p", str(child.pid), "--",
                     *process.until_used(child.pid, 100))
        need(done.returncode == 0, done.stderr)
        done = r.run(r.capable, "script", "-i", r.data, "-F", "comm")
        need(done.stdout.count("sh") > 10, "%d: %s %s" % (done.returncode, done.stdout[:200], done.stderr[:200]))
