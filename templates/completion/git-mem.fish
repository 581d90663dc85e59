# `git mem`: the same words behind git.
function _git_mem_behind_git
    set -l line (string replace -r '^git\s+mem' git-mem -- (commandline -cp))
    for found in (env _GIT_MEM_COMPLETE=fish_complete COMP_WORDS="$line" COMP_CWORD=(commandline -t) git-mem)
        set -l parts (string split -m 1 "," -- $found)
        test "$parts[1]" = plain; and echo $parts[2]
    end
end
complete --no-files --command git --condition 'string match -qr "^git\s+mem\s" -- (commandline -cp)' --arguments '(_git_mem_behind_git)'
