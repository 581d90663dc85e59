from gitmem.authoring.demo import demo_id
def test_x(demo_memory, run):
    teal=demo_id("teal")
    print(run("confirm", teal))
    for a in (["show", teal[:4]],["show",demo_id("amber")],["show",demo_id("uv-env")],["show",demo_id("old-baseline-f1")],["show","some","words"],["show","zzzz"],["list"],["list","--all"],["list","--expiring"],["list","--type","decision","--scope","thesis"],["show",teal,"--json"],["show","-h"],["list","--json","--scope","personal"]):
        r=run(*a); print("$", a, r.code); print(r.out); print("!",r.err)
    assert 0
