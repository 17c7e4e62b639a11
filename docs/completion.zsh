#compdef @PROGRAM@
# zsh completion of @PROGRAM@: `@PROGRAM@ completion words` finds the words.
_@PROGRAM@()
{
	local word text
	local -a found
	while IFS=$'\t' read -r word text; do
		found+=("${word//:/\\:}:$text")
	done < <("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( $#found )); then
		_describe -t words '@PROGRAM@' found
	else
		_default
	fi
}
if [[ $funcstack[1] == _@PROGRAM@ ]]; then
	_@PROGRAM@ "$@"
else
	compdef _@PROGRAM@ @PROGRAM@
fi
