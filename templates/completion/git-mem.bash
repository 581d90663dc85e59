# `git mem`: git's own completion calls this when it meets the command.
_git_mem() {
    local at=0 line
    while [ "$at" -lt "$cword" ] && [ "${words[at]}" != mem ]; do at=$((at + 1)); done
    while IFS= read -r line; do
        case $line in plain,*) COMPREPLY+=("${line#plain,}") ;; esac
    done < <(env COMP_WORDS="${words[*]:at}" COMP_CWORD=$((cword - at)) _GIT_MEM_COMPLETE=bash_complete git-mem)
}
