# bash completion of @PROGRAM@: `@PROGRAM@ completion words` finds the words.
_perfuse()
{
	local word current=${COMP_WORDS[COMP_CWORD]} before i
	local -a words=()
	# bash breaks words at : and =
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ ${#words[@]} -gt 0 && ($word == [:=] || ${COMP_WORDS[i - 1]} == [:=]) ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	[[ $current == [:=] ]] && current=
	before=${words[-1]%"$current"}
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		COMPREPLY+=("${word#"$before"}")
	done < <("$1" completion words -- "${words[@]}" 2>/dev/null)
}
complete -o bashdefault -o default -F _perfuse @PROGRAM@
