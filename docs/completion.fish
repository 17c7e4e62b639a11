# fish completion of @PROGRAM@: `@PROGRAM@ completion words` finds the words.
function __@PROGRAM@_words
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -l found ($words[1] completion words -- $words[2..-1] "$current" 2>/dev/null)
	if count $found >/dev/null
		printf '%s\n' $found
	else
		__fish_complete_path "$current"
	end
end
complete -c @PROGRAM@ -f -a '(__@PROGRAM@_words)'
