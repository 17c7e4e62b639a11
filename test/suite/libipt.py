"""libipt, Intel's decoder of Intel PT, as a second opinion about traces."""
import os

from suite import process
from suite.settings import TOP
from suite.tests import Skip


class Libipt:
    """The program test/intel_pt/libipt_instructions.c, compiled in a folder."""

    def __init__(self, folder):
        self.program, self.trace = os.path.join(folder, "libipt_instructions"), os.path.join(folder, "trace")
        built = process.run("cc", os.path.join(TOP, "test", "intel_pt", "libipt_instructions.c"), "-lipt", "-o", self.program)
        if built.returncode:
            raise Skip("libipt is not installed (package libipt-dev)")

    def instructions(self, packets, code):
        """The addresses, in hexadecimal digits, of the instructions of a trace; code: words of path, offset, size, address."""
        with open(self.trace, "wb") as file:
            file.write(packets)
        return process.must(self.program, self.trace, *code).split()
