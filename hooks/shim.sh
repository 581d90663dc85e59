#!/bin/sh
# git-mem hook @NAME@: written by `git mem hooks install`, taken out by `git mem hooks uninstall`.
# A hook that stood here before is kept as @NAME@.before-git-mem and still runs first.

name=@NAME@
python=@PYTHON@

case $0 in
*/*) before=${0%/*}/$name.before-git-mem ;;
*) before=./$name.before-git-mem ;;
esac

# git calls this one three times for every ref that moves, and only the first can refuse.
[ "$name" != reference-transaction ] || [ "${1-}" = prepared ] || [ -x "$before" ] || exit 0

# git sends the refs once, and both the earlier hook and ours read them.
refs=
case $name in pre-push | pre-receive | reference-transaction) refs=$(cat) ;; esac

with_input() {
    case $name in
    pre-push | pre-receive | reference-transaction)
        # A hook may leave before it has read everything; only its own status counts.
        { [ -z "$refs" ] || printf '%s\n' "$refs"; } 2>/dev/null | "$@"
        ;;
    *) "$@" ;;
    esac
}

# The variable stops a loop when the earlier hook itself calls this one; our own check runs in any case.
if [ -x "$before" ] && [ ! -d "$before" ] && [ "${GIT_MEM_CHAIN-}" != "$before" ]; then
    GIT_MEM_CHAIN=$before
    export GIT_MEM_CHAIN
    with_input "$before" "$@"
    status=$?
    unset GIT_MEM_CHAIN
    [ "$status" -eq 0 ] || [ "$name" = post-merge ] || exit "$status"
fi

# A ref that is not the memory's branch costs no more than this.
if [ "$name" = reference-transaction ]; then
    [ "${1-}" = prepared ] || exit 0
    case $refs in *refs/heads/*) ;; *) exit 0 ;; esac
    branch=refs/heads/$(git config --get mem.branch || echo main)
    lines="
$refs
"
    case $lines in *" $branch
"*) ;; *) exit 0 ;; esac
    # What git mem itself has judged and is about to move, as `<old> <new>`; and an erasure, which moves whatever it must.
    state=$(git rev-parse --git-common-dir)/git-mem
    [ ! -e "$state/erasing" ] || exit 0
    announced=
    [ ! -f "$state/moving" ] || read -r announced <"$state/moving"
    case $lines in *"
${announced:-nothing} $branch
"*) exit 0 ;; esac
fi

# What git mem commits was judged in its own process just before. Here it is known by the tree, and by the message as it
# was handed over: what another hook has changed is judged again.
case $name:${GIT_DIR-} in
pre-commit:*/git-mem/writer | commit-msg:*/git-mem/writer)
    judged=
    [ ! -f "$GIT_DIR/judged" ] || read -r judged <"$GIT_DIR/judged"
    if [ -n "$judged" ] && [ "$(git write-tree 2>/dev/null)" = "$judged" ]; then
        [ "$name" = pre-commit ] || cmp -s "$1" "$GIT_DIR/message" && exit 0
    fi
    ;;
esac

# The trees before and after what git is about to record or send; `:0` is the index it hands us.
trees() {
    case $name in
    pre-push) printf '%s\n' "$refs" | while read -r _ ours _ theirs; do echo "$ours $theirs"; done ;;
    pre-receive) printf '%s\n' "$refs" | while read -r theirs ours _; do echo "$ours $theirs"; done ;;
    reference-transaction) printf '%s\n' "$branch" "$refs" | while read -r one ours _; do echo "$one $ours"; done ;;
    post-merge) echo HEAD ORIG_HEAD ;;
    *) echo HEAD :0 MERGE_HEAD ;;
    esac
}

# Status 1 says that the file is not there. Anything else means that it is, or that git could not look:
# then the check has to run.
is_memory() {
    for tree in $(trees); do
        git rev-parse --quiet --verify "$tree:registry/memory.yaml" >/dev/null 2>&1
        [ $? -eq 1 ] || return 0
    done
    return 1
}

is_memory || exit 0

# Ends this script with the status of a check that ran; comes back when "$@" cannot run at all.
# -P: a folder called gitmem in a cloned memory must not be imported.
try() {
    with_input "$@"
    status=$?
    [ "$name" != post-merge ] || exit 0
    case $status in 126 | 127) return ;; esac
    if [ "$status" -eq 1 ] && [ "$1" = "$python" ]; then
        "$python" -P -c 'import gitmem.hooks' 2>/dev/null || return
    fi
    exit "$status"
}

[ ! -x "$python" ] || try "$python" -P -m gitmem.hooks.run "$name" "$@"
! command -v git-mem >/dev/null 2>&1 || try git-mem hooks run "$name" "$@"

case $name in
post-merge) exit 0 ;;
pre-push | pre-receive) what=push ;;
reference-transaction) what='move of the branch' ;;
*) what=commit ;;
esac
printf '%s\n' \
    "error: cannot check this $what, so it is refused: \`$python\` does not run git mem, and there is no \`git-mem\` on PATH" \
    "hint: install git-mem again, then: git mem hooks install" >&2
exit 1
