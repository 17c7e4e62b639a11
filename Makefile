# Short commands; Meson builds: see meson.build, ARCHITECTURE.md and CONTRIBUTING.md.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_S ?= 60
AFL_S ?= 60
FORGE_S ?= 60

all: packages
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX)
	@ninja -C $(BUILD)

packages:
	@tools/install-packages build

# Records the bundled program, prints the report and draws a flame graph.
demo: all
	@tools/demo $(BUILD)

# Every test; the last line is the sum.
check: packages
	@tools/install-packages test
	@tools/check $(BUILD)

# What make check leaves out for time: the scripts that read no foreign bytes, with ASan and UBSan, and more damaged recordings.
check-all: check
	@tools/check --rest $(BUILD)
	@PERFUSE_LONG=1 PERFUSE="$(abspath $(BUILD))/perfuse" tools/tally test/hostile_test.py

# Real kernels in qemu, and other processors: docs/lab.md describes these and the following.
check-vm: packages
	@tools/install-packages test vm
	@tools/tally test/vm_again.py -- test/vm_cpus.py -- test/vm_machines.py -- test/vm_counters.py -- test/vm_layouts.py -- test/vm_locks.py -- test/vm_schedstats.py -- test/vm_programs.py -- test/vm_trace.py \
		-- test/vm_probe.py -- test/vm_foreign.py -- test/vm_stacks.py -- test/vm_names.py

# Names, lines and stacks of programs in Go, D, Zig, Ada, Pascal, Fortran, Java, whose compilers are large.
check-languages: all
	@tools/install-packages test languages
	@PERFUSE="$(abspath $(BUILD))/perfuse" tools/tally test/languages_test.py -- test/java_test.py -- test/addr2line_test.py go gdc ldc ada pascal fortran zig

# Programs that read what perf writes: perf2bolt, autofdo, hotspot's parser, and speedscope if npm is installed.
check-readers: all
	@tools/install-packages test readers
	@! command -v npm >/dev/null || npm install --silent --no-audit --no-fund \
		--prefix "$${XDG_CACHE_HOME:-$$HOME/.cache}/perfuse/readers" speedscope@1.25.0
	@PERFUSE="$(abspath $(BUILD))/perfuse" tools/tally test/readers_test.py

# Compares the output of perf 6.12 (PERF: another one) and perfuse, for recordings of others (CORPUS) and for new ones.
# KEEP=TEXT: only the commands that contain TEXT.
check-agree: all
	@tools/install-packages test
	@PERFUSE="$(abspath $(BUILD))/perfuse" PERFUSE_CORPUS="$(or $(abspath $(CORPUS)),$(PERFUSE_CORPUS))" tools/tally test/agree_test.sh -k "$(KEEP)"

# FUZZ_S seconds for each fuzz target; findings are stored under ~/.cache/perfuse/fuzz.
fuzz: packages
	@tools/install-packages fuzz
	@tools/tally tools/fuzz -s $(FUZZ_S)

# AFL++ on the whole of `script` and `report`, AFL_S seconds each.
fuzz-afl: packages
	@tools/install-packages afl
	@tools/tally tools/afl -s $(AFL_S)

# Every command on forged recordings and programs, FORGE_S seconds for each generator.
fuzz-forge: packages
	@tools/install-packages fuzz
	@tools/tally tools/forge -s $(FORGE_S)

# Races (TSan), leaks and overruns (LSan, ASan, UBSan). KEEP=TEXT: only the tests whose name contains TEXT.
check-san: packages
	@tools/install-packages test san
	@tools/tally tools/sanitize race --keep="$(KEEP)" -- tools/sanitize leak --keep="$(KEEP)"

# clang-tidy, cppcheck and gcc -fanalyzer on every source, or with CHANGED=1 on those that differ from the last commit; pyflakes.
check-static: packages
	@tools/install-packages static
	@tools/tally tools/static $(if $(CHANGED),,--all)

# The README's commands in a bare Debian 12 and 13.
check-clean:
	@tools/install-packages clean
	@tools/tally tools/bare -- tools/bare --suite trixie

# Which lines the tests run, by layer.
coverage: packages
	@tools/install-packages test
	@tools/coverage

# Compared with perf 6.12 and with an earlier perfuse: AGAINST=COMMIT or a program; without it the commit measured last (bench/history).
bench: all
	@tools/install-packages bench
	@bench/run --perfuse $(BUILD)/perfuse $(if $(AGAINST),--against $(AGAINST))

# How time and memory grow with recordings of large machines, at three sizes each; KEEP=TEXT: only the jobs whose name contains it.
bench-scale: all
	@bench/scale --serial --perfuse $(BUILD)/perfuse $(KEEP)

# Mistakes made on purpose in a copy of the tree: does the command that should find each find it? PLANT=NAME: only that one.
# And additions: does a column, a record type, a sample field, a format that is added in the files that CONTRIBUTING.md lists work?
check-planted: packages
	@tools/install-packages test san fuzz bench
	@tools/tally tools/plant $(PLANT)
	@$(if $(PLANT),,tools/tally tools/check-adding --build)

# Do the tests notice a mistake in a line drawn at random? LAYER=NAME, SINCE=COMMIT: only there; COUNT mistakes, drawn by SEED.
mutate: packages
	@tools/install-packages test
	@tools/mutate --count $(or $(COUNT),60) --seed $(or $(SEED),1) --layer "$(LAYER)" --since "$(SINCE)"

install: all
	meson install -C $(BUILD) --no-rebuild

clean:
	rm -rf $(BUILD) build-*

.PHONY: all packages demo check check-all check-vm check-languages check-readers check-agree fuzz fuzz-afl fuzz-forge check-san check-static check-clean check-planted coverage bench bench-scale install clean mutate
