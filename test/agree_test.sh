#!/bin/sh
# sanitized: the recordings of others
# Agreement with perf, as test lines: on recordings of others ($PERFUSE_CORPUS, by default ../shared/corpus beside the
# tree), and on recordings made here, by perf and by perfuse, in the shapes that test/agree/shapes lists, or in those that
# $AGREE_SHAPES names. -k TEXT selects the commands that contain TEXT. Shapes of the whole machine are recorded with
# AGREE_MACHINE=1 only, and then only these: test/agree_machine_test.sh.
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
if [ -n "${AGREE_MACHINE:-}" ]; then
	[ -z "${PERFUSE_SANITIZED:-}" ] || exit 0
elif [ -d "$others" ]; then
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

mkdir "$work/files"
cache=${XDG_CACHE_HOME:-$HOME/.cache}
while read -r shape options; do
	case $shape in '' | \#*) continue ;; esac
	if [ -n "${AGREE_SHAPES:-}" ]; then
		case " $AGREE_SHAPES " in *" $shape "*) ;; *) continue ;; esac
	else
		machine=
		case " $options " in *" -a "*) machine=1 ;; esac
		[ "$machine" = "${AGREE_MACHINE:-}" ] || continue
	fi
	# shellcheck disable=SC2086 # words are wanted
	if ! record "$PERF" perf "$shape" $options; then
		echo "skip perfuse records the shape $shape: perf itself cannot here: $(tail -n 1 "$work/said")"
		rm -rf "$work/files/$shape.by-perf"
	elif record "$perfuse" perfuse "$shape" $options; then
		echo "ok perfuse records the shape $shape"
	elif grep -q 'not supported yet' "$work/said"; then
		echo "skip perfuse records the shape $shape: $(head -n 1 "$work/said")"
		rm -rf "$work/files/$shape.by-perfuse"
	else
		sed 's/^/# /' "$work/said" | head -n 5
		echo "not ok perfuse records the shape $shape"
		rm -rf "$work/files/$shape.by-perfuse"
		failed=1
	fi
done <"$top/test/agree/shapes"
echo "# recordings made on the spot"
XDG_CACHE_HOME=$cache "$top/tools/agree" --fresh --home "$work" --lines --keep="$keep" --commands "$top/test/agree/spot-commands" "$work/files" || failed=1
exit $failed
