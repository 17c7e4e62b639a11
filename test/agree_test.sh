#!/bin/sh
# sanitized: the recordings of others
# Agreement with perf, as test lines: on recordings of others ($PERFUSE_CORPUS, by default ../shared/corpus beside the
# tree), and on recordings made here, by perf and by perfuse, in the shapes that test/agree/shapes lists, or in those that
# $AGREE_SHAPES names. -k TEXT selects the commands that contain TEXT.
set -u
keep=
[ "${1:-}" != -k ] || keep=$2
top=$(cd "$(dirname "$0")/.." && pwd)
corpus=${PERFUSE_CORPUS:-$top/../shared/corpus}
perfuse=${PERFUSE:-$top/build/perfuse}

if ! PERF=$("$top/tools/reference-perf" 2>/dev/null); then
	echo "skip agreement with perf: tools/reference-perf could not build perf 6.12 here"
	exit 0
fi
export PERF

failed=0
# a folder named on purpose may hold nothing but recordings
others=$corpus/perfdata
[ -d "$others" ] || [ -z "${PERFUSE_CORPUS:-}" ] || others=$corpus
if [ -d "$others" ]; then
	echo "# others' recordings: $others"
	"$top/tools/agree" --lines --keep="$keep" "$others" || failed=1
else
	echo "skip agreement on others' recordings: no such folder: $others (PERFUSE_CORPUS names another)"
fi
# recordings are the same with sanitizers
[ -z "${PERFUSE_SANITIZED:-}" ] || exit $failed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# with frame pointers; and without, because perf ends stacks at the last instruction of a function that has one (docs/differences.md)
if ! cc -O1 -g -fno-omit-frame-pointer -o "$work/shape" "$top/test/workload/shape.c" -lm -lpthread ||
	! cc -O1 -g -fomit-frame-pointer -o "$work/shape-bare" "$top/test/workload/shape.c" -lm -lpthread; then
	echo "not ok the bundled program compiles"
	exit 1
fi
if ! "$PERF" record -q -o "$work/try" true >/dev/null 2>&1; then
	echo "skip agreement on recordings made on the spot: perf_event_open is refused here (kernel.perf_event_paranoid, seccomp?)"
	exit $failed
fi

# record PROGRAM BY SHAPE OPTIONS...: writes $work/files/SHAPE.by-BY
record() {
	program=$1 by=$2 shape=$3
	shift 3
	out=$work/files/$shape.by-$by pipe=
	[ "$1" != pipe ] || { pipe=1; shift; }
	for word; do
		shift
		case $word in
		WORK)
			case $shape in dwarf*) set -- "$@" "$work/shape-bare" --ms ;; *) set -- "$@" "$work/shape" --ms ;; esac
			word=150
			;;
		OUT) word=$out ;;
		esac
		set -- "$@" "$word"
	done
	export HOME="$work"
	if [ "$pipe" ]; then
		"$program" record "$@" 2>"$work/said" >"$out" </dev/null
	else
		"$program" record "$@" >/dev/null 2>"$work/said" </dev/null
	fi && [ -s "$out" ]
}

# make ATTEMPT SHAPES: records them, by perf and by perfuse
make() {
	rm -rf "$work/files" "$work/system"
	mkdir "$work/files" "$work/system"
	while read -r shape options; do
		case $shape in '' | \#*) continue ;; esac
		case " ${2:-$shape} " in *" $shape "*) ;; *) continue ;; esac
		# shellcheck disable=SC2086 # words are wanted
		if ! record "$PERF" perf "$shape" $options; then
			echo "skip perfuse records the shape $shape: perf itself cannot here: $(tail -n 1 "$work/said")"
			rm -rf "$work/files/$shape.by-perf"
		elif record "$perfuse" perfuse "$shape" $options; then
			[ "$1" != 1 ] || echo "ok perfuse records the shape $shape"
		elif grep -q 'not supported yet' "$work/said"; then
			echo "skip perfuse records the shape $shape: $(head -n 1 "$work/said")"
			rm -rf "$work/files/$shape.by-perfuse"
		else
			sed 's/^/# /' "$work/said" | head -n 5
			echo "not ok perfuse records the shape $shape"
			rm -rf "$work/files/$shape.by-perfuse"
			failed=1
		fi
		case " $options " in *" -a "*) mv "$work/files/$shape".by-* "$work/system" 2>/dev/null ;; esac
	done <"$top/test/agree/shapes"
}

cache=${XDG_CACHE_HOME:-$HOME/.cache}
export XDG_CACHE_HOME="$cache"
compare() {
	set -- --fresh --home "$work" --lines --keep="$keep"
	differ=0
	for file in "$work"/files/*.by-perf; do
		shape=$(basename "$file" .by-perf)
		sed -n "s/^$shape: //p" "$top/test/agree/option-commands" >"$work/commands"
		[ ! -s "$work/commands" ] || "$top/tools/agree" "$@" --commands "$work/commands" "$file" || differ=1
	done
	[ -z "${PERFUSE_SHORT:-}" ] || set -- --half "$@"
	set -- "$@" --commands "$top/test/agree/spot-commands"
	[ -z "$(ls "$work/files")" ] || "$top/tools/agree" "$@" "$work/files" || differ=1
	# of all processes, only those whose programs and libraries are the test's
	[ -z "$(ls "$work/system")" ] || "$top/tools/agree" --comms "shape,shape-skewed,shape-even,shape-deep,shape-asleep,shape-bare,swapper" "$@" "$work/system" || differ=1
	return $differ
}

# A recording of which the outputs differ is made once more: on a busy machine a sample may be where perf itself has no name for it.
echo "# recordings made on the spot"
shapes=${AGREE_SHAPES:-}
# those of option-commands, and of similar shapes one; without PERFUSE_SHORT all
[ "$shapes" ] || [ -z "${PERFUSE_SHORT:-}" ] || shapes="plain graph graph-all dwarf two-events group group-read period data weight page-faults switches switch-rec
	namespaces cgroups registers per-thread stat user-only build-mmap compressed sched raw mixed threads pipe pipe-sched"
shapes=$(printf %s "$shapes" | tr -s '\n\t' '  ')
for attempt in 1 2 3; do
	make $attempt "$shapes"
	code=0
	compare >"$work/lines" || code=1
	shapes=$(sed -n 's/^not ok agrees with perf: .* on \([^ ]*\)\.by-perf[a-z]* (.*$/\1/p' "$work/lines" | sort -u)
	if [ -z "$shapes" ] || [ $attempt = 3 ]; then
		cat "$work/lines"
		[ $code = 0 ] || failed=1
		break
	fi
	pattern=$(printf '%s\n' "$shapes" | sed 's/.*/ on &\\.by-/')
	grep -v '^not ok' "$work/lines" | grep -v -e '^#' -e "$pattern"
	grep -e '^not ok' -e '^#' "$work/lines" | sed 's/^not ok/# once more:/'
	shapes=$(printf %s "$shapes" | tr '\n' ' ')
done
exit $failed
