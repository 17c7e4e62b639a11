# What people type. Meson does the work: see meson.build, ARCHITECTURE.md and CONTRIBUTING.md.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_S ?= 60

all: packages
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD)

packages:
	@tools/install-packages build

# Records the bundled program, prints the report and draws a flame graph.
demo: all
	@tools/demo $(BUILD)

# Every test there is; the last line adds them up.
check: packages
	@tools/install-packages test
	@tools/check $(BUILD)

# Real kernels in qemu, and other processors: docs/lab.md tells of these and the next.
check-vm: packages
	@tools/install-packages test vm
	@tools/tally test/vm/machines -- test/vm/foreign

# FUZZ_S seconds for each fuzz target; what is found stays under ~/.cache/perfuse/fuzz.
fuzz: packages
	@tools/install-packages fuzz
	@tools/fuzz -s $(FUZZ_S)

# Data races; `make check` has ASan and UBSan.
check-san: packages
	@tools/install-packages test san
	@tools/tally tools/race

# clang-tidy, cppcheck and gcc -fanalyzer on what differs from the last commit.
check-static: packages
	@tools/install-packages static
	@tools/tally tools/static

# The README's commands in a bare Debian 12.
check-clean:
	@tools/install-packages clean
	@tools/tally tools/bare

# Which lines the tests run, by layer.
coverage: packages
	@tools/install-packages test
	@tools/coverage

bench: all
	@tools/install-packages bench
	@bench/run

install: all
	meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize

.PHONY: all packages demo check check-vm fuzz check-san check-static check-clean coverage bench install clean
