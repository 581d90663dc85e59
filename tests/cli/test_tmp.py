from gitmem.authoring.demo import demo_id
def test_x(demo_memory, run, home):
    for a in (["status"],["status","--json"],["log"],["log","--json"],["log","--recalls"],["path"],["completion","bash"],["completion","zsh"],["completion","fish"],["help"],["help","add"],["help","nope"],[],["log","-h"]):
        r=run(*a); print("$", a, r.code); print(r.out); print("!",r.err)
    (home/".gitconfig").write_text("")
    r=run(); print(r.code, r.out[-300:], r.err)
    assert 0
