# bash completion of perfuse, and of perf where that is a link to it. The program itself lists commands and options.
_perfuse()
{
	local program=$1 current=${COMP_WORDS[COMP_CWORD]} command= words= i
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] && continue
		command=${COMP_WORDS[i]}
		break
	done
	if [[ -z $command && $current == -* ]]; then
		words=$("$program" --list-opts 2>/dev/null)
	elif [[ -z $command ]]; then
		words=$("$program" --list-cmds 2>/dev/null)
	elif [[ $current == -* ]]; then
		words=$("$program" "$command" --list-opts 2>/dev/null)
	elif [[ $command == help ]]; then
		words=$("$program" --list-cmds 2>/dev/null)
	else
		words=$("$program" "$command" --list-cmds 2>/dev/null)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _perfuse "$(basename "${BASH_SOURCE[0]}" .bash)"
