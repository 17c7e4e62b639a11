# What people type. Meson does the work: see meson.build, ARCHITECTURE.md and CONTRIBUTING.md.
BUILD ?= build
PREFIX ?= /usr/local

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

bench: all
	@tools/install-packages bench
	@bench/run

install: all
	meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) $(BUILD)-sanitize

.PHONY: all packages demo check bench install clean
