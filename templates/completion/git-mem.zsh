# `git mem`: zsh's completion of git calls this when it meets the command.
_git-mem() { _git_mem_completion; }
zstyle ':completion:*:*:git:*' user-commands mem:'one memory for all your agents'
