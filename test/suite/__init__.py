"""What the test programs (test/*_test.py, test/vm_*.py) and the programs of tools/ share: `tools/suite` is a link to this folder. A program
imports it from its own folder, so it runs from any folder, and nothing needs to be installed."""
