"""Debian packages of any architecture, unpacked into a cache without installing them: kernels for tools/vm, libraries for
tools/cross, busybox. apt checks the archive's signature; its state is private, so nothing on this machine changes.

    python3 tools/debian.py NAME ARCH PACKAGE...     prints the folder

DEBIAN_MIRROR names another mirror than deb.debian.org; the cache is ${XDG_CACHE_HOME:-~/.cache}/perfuse/vm."""
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "perfuse", "vm")
MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
SUITES = ("debian bookworm", "debian bookworm-updates", "debian-security bookworm-security", "debian bookworm-backports")
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64", "s390x": "s390x", "i386": "i386"}


@contextlib.contextmanager
def locked(name):
    """One process at a time makes the entry of this name in the cache."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Archive:
    """The archive as an architecture sees it."""

    def __init__(self, arch):
        self.arch = DEBIAN_NAMES[arch]
        self.root = os.path.join(CACHE, "apt-" + self.arch)
        self.fresh = False

    def options(self):
        return ["-o", "APT::Architecture=" + self.arch, "-o", "APT::Architectures=" + self.arch, "-o", "Dir::State=" + self.root + "/state",
                "-o", "Dir::State::status=" + self.root + "/status", "-o", "Dir::Cache=" + self.root + "/cache",
                "-o", "Dir::Etc::SourceList=" + self.root + "/sources.list", "-o", "Dir::Etc::SourceParts=-",
                "-o", "Acquire::Languages=none", "-o", "Acquire::Retries=3", "-o", "APT::Sandbox::User=", "-o", "APT::Get::List-Cleanup=0"]

    def update(self):
        """Fetches the lists, once for each process that needs anything."""
        if self.fresh:
            return
        for folder in ("state/lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.root, folder), exist_ok=True)
        with open(os.path.join(self.root, "status"), "a"):
            pass
        with open(os.path.join(self.root, "sources.list"), "w") as out:
            for suite in SUITES:
                out.write("deb [signed-by=%s] %s/%s main\n" % (KEYRING, MIRROR, suite))
        # a mirror that is being updated may refuse a list; a missing package is an error when it is requested
        subprocess.run(["apt-get", "-q", "-q", *self.options(), "update"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.fresh = True

    def field(self, package, name):
        """A field of the newest version of a package."""
        self.update()
        text = subprocess.run(["apt-cache", *self.options(), "--no-all-versions", "show", package], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        found = re.search(r"^%s: (.*)$" % re.escape(name), text, re.M)
        return found.group(1) if found else ""

    def unpack(self, packages, into, only=()):
        """only: patterns of the files to unpack, as for tar; without any: all files."""
        self.update()
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            subprocess.run(["apt-get", "-q", "-q", *self.options(), "download", *packages], check=True, cwd=folder,
                           stdout=subprocess.DEVNULL)
            for name in sorted(os.listdir(folder)):
                if not only:
                    subprocess.run(["dpkg-deb", "-x", os.path.join(folder, name), into], check=True)
                    continue
                with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", os.path.join(folder, name)], stdout=subprocess.PIPE) as whole:
                    # a pattern without a match is not an error here
                    subprocess.run(["tar", "-x", "-C", into, "--wildcards", *only], stdin=whole.stdout, stderr=subprocess.DEVNULL)


def unpacked(name, arch, packages, finish=None, only=()):
    """The folder with these packages unpacked, made if the cache lacks it; finish(folder) completes it. `packages` may be
    a function of the archive; `only`: patterns of the files to unpack."""
    recipe = hashlib.sha256(repr((arch, name, packages if isinstance(packages, list) else "")).encode()).hexdigest()[:12]
    path = os.path.join(CACHE, "%s-%s-%s" % (name, arch, recipe))
    with locked("%s-%s" % (name, arch)):
        if not os.path.isdir(path):
            archive = Archive(arch)
            archive.update()
            made = tempfile.mkdtemp(dir=CACHE)
            try:
                os.chmod(made, 0o755)
                archive.unpack(packages if isinstance(packages, list) else packages(archive), made, only)
                if finish:
                    finish(made)
                os.rename(made, path)
            finally:
                shutil.rmtree(made, ignore_errors=True)
    return path


if __name__ == "__main__":
    print(unpacked(sys.argv[1], sys.argv[2], sys.argv[3:]))
