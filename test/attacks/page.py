"""docs/security.md names tests that exist."""
import glob
import os
import re

from suite.settings import TEST, TOP
from suite.tests import need


def test_page(_):
    """the tests that docs/security.md names exist"""
    page = open(os.path.join(TOP, "docs", "security.md")).read()
    folder, missing = None, []
    for name, words, source in re.findall(r'`(?:([a-z-]+) )?"([^"`]+)"`|`([a-z]+/[a-z_]+\.c)`', page):
        folder = name or folder
        if source:
            if not os.path.exists(os.path.join(TOP, "src", source)):
                missing.append(source)
            continue
        texts = [open(path).read() for path in [os.path.join(TEST, folder + "_test.py"), *glob.glob(os.path.join(TEST, folder, "*.py"))]]
        if not any(words in text for text in texts):
            missing.append("%s %r" % (folder, words))
    need(not missing, "missing: " + ", ".join(missing))
