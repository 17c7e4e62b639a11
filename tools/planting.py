"""A copy of the tree, and commands that run in it: for tools/plant and tools/check-adding."""
import os
import shutil
import signal
import subprocess

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND_SECONDS_MAX = 1500


def copy_tree(folder):
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if listed.returncode != 0:
        shutil.copytree(TOP, folder, dirs_exist_ok=True, symlinks=True,
                        ignore=lambda where, names: [n for n in names if where == TOP and n.startswith(("build", ".git"))])
        return
    for name in filter(None, listed.stdout.decode().split("\0")):
        if os.path.isfile(os.path.join(TOP, name)) or os.path.islink(os.path.join(TOP, name)):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy2(os.path.join(TOP, name), os.path.join(folder, name), follow_symlinks=False)


def run(command, folder):
    """(exit code, output)"""
    with subprocess.Popen(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            output = process.communicate(timeout=COMMAND_SECONDS_MAX)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = process.communicate()[0] + "\nended after %d s" % COMMAND_SECONDS_MAX
    return process.returncode, output


def tail(output):
    return "".join("# %s\n" % line[:300] for line in output.strip().splitlines()[-12:])
