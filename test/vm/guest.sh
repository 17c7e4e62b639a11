#!/bin/sh
# The script of test/vm_machines.py in the machine: records with every source there is, reads each recording; all files stay in /mnt.
# One line a step: NAME EXIT_CODE.
step() {
	step=$1
	shift
	"$@" >"/mnt/$step.out" 2>"/mnt/$step.err"
	echo "$step $?"
}

recorded() {
	name=$1
	shift
	step "$name.record" perfuse record -o "/mnt/$name.data" "$@"
	step "$name.script" perfuse script -i "/mnt/$name.data"
	step "$name.report" perfuse report --stdio -i "/mnt/$name.data"
}

piped() {
	perfuse record -o - -e cpu-clock -- shape --ms 100 | perfuse report --stdio -i -
}

uname -r
recorded clock -g -e cpu-clock -c 1000000 -- shape --ms 300
recorded system -a -g -e cpu-clock -- sleep 1
recorded tracepoints -e sched:sched_process_exec -e sched:sched_process_fork -e raw_syscalls:sys_enter -- sh -c '/bin/cat /etc/passwd; true'
recorded packed -z -e cpu-clock -c 1000000 -- shape --ms 100
echo 'p:lab/opened do_sys_openat2' >/sys/kernel/tracing/kprobe_events
recorded kprobe -e lab:opened -- cat /etc/passwd
step piped.report piped
# a recording with the kernel's code; not in /mnt, as it is large
if [ -e /proc/kcore ]; then
	step kcore.made perfuse record --kcore -o /kcore.data -e cpu-clock -- cat /proc/kallsyms
	step kcore.modes stat -c %a /kcore.data /kcore.data/kcore_dir /kcore.data/kcore_dir/*
	step kcore.lines perfuse script -i /kcore.data -F ip,sym,insn
	step kcore.names perfuse kallsyms schedule vfs_read
fi
for device in /sys/bus/event_source/devices/armv8_pmuv3*; do
	[ -e "$device" ] || continue
	recorded cycles -e cycles:u -c 1000000 -- shape --ms 1000
	recorded frequency -e cycles -F 500 -g -- shape --ms 300
done
