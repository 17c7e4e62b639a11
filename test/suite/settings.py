"""Where the tree, the program under test and the recordings of others are; what the environment asks for."""
import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEST = os.path.join(TOP, "test")
PERFUSE = os.path.abspath(os.environ.get("PERFUSE") or os.path.join(TOP, "build", "perfuse"))
BUILD = os.path.abspath(os.environ.get("PERFUSE_BUILD") or os.path.dirname(PERFUSE))
CORPUS = os.environ.get("PERFUSE_CORPUS") or os.path.join(TOP, "..", "shared", "corpus")
SANITIZED = bool(os.environ.get("PERFUSE_SANITIZED"))
SHORT = bool(os.environ.get("PERFUSE_SHORT"))  # fewer cases of each kind
LONG = bool(os.environ.get("PERFUSE_LONG"))  # more of them, in `make check-all`
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "perfuse")
SHAPE = os.path.join(BUILD, "test", "workload", "shape")  # the bundled program, as Meson builds it
SHAPE_SOURCE = os.path.join(TEST, "workload", "shape.c")
