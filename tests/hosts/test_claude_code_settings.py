from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.errors import Refused
from gitmem.hosts import claude_code as cc
from gitmem.hosts.files import FileWrite, apply, read_bytes, read_text
from tests.hosts.settings_texts import ANY_SETTINGS, neat, plain

EVENTS = {"SessionStart", "UserPromptSubmit", "SessionEnd"}
OURS = {"type": "command", "command": "git mem hook claude-code"}
PLAIN = """\
{
  "model": "opus",
  // my own
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "~/bin/first.sh"}]}, // stays first
    ],
  },
}
"""


def through_json(journal: cc.Journal | None) -> Any:
    return json.loads(json.dumps(journal))


def pair(text: str | None) -> tuple[str, Any]:
    made = cc.connect(text)
    return made.text, through_json(made.journal)


def without_ours(data: Any) -> Any:
    """The settings with our three groups gone, and the lists that held nothing else."""
    hooks = {
        e: [g for g in groups if "git mem hook" not in str(g)] for e, groups in data.get("hooks", {}).items()
    }
    return {**{k: v for k, v in data.items() if k != "hooks"}, "hooks": {e: g for e, g in hooks.items() if g}}


# -- connect ---------------------------------------------------------------------------------------


def test_a_first_connect_writes_three_hooks_in_a_readable_file() -> None:
    text = cc.connect(None).text
    assert json.loads(text) == {
        "hooks": {
            "SessionStart": [{"matcher": "startup|resume|clear|compact", "hooks": [{**OURS, "timeout": 5}]}],
            "UserPromptSubmit": [{"hooks": [{**OURS, "timeout": 5}]}],
            "SessionEnd": [{"hooks": [{**OURS, "timeout": 2}]}],
        }
    }
    assert text == json.dumps(json.loads(text), indent=2) + "\n"


def test_connect_writes_after_the_hooks_that_are_there_and_in_their_layout() -> None:
    assert (
        cc.connect(PLAIN).text
        == """\
{
  "model": "opus",
  // my own
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "~/bin/first.sh"}]}, // stays first
      {
        "hooks": [
          {
            "type": "command",
            "command": "git mem hook claude-code",
            "timeout": 5
          }
        ]
      },
    ],
    "SessionStart": [
      {
        "matcher": "startup|resume|clear|compact",
        "hooks": [
          {
            "type": "command",
            "command": "git mem hook claude-code",
            "timeout": 5
          }
        ]
      }
    ],
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "git mem hook claude-code",
            "timeout": 2
          }
        ]
      }
    ],
  },
}
"""
    )


@settings(max_examples=150, deadline=None)
@given(ANY_SETTINGS)
def test_connect_changes_no_line_of_the_file_and_no_value_in_it(text: str) -> None:
    new = cc.connect(text).text
    assert cc.connected(new) >= EVENTS
    assert without_ours(plain(new)) == without_ours(plain(text))
    rest = iter(new)
    assert all(char in rest for char in text if not char.isspace()), "a character went missing or moved"


@settings(max_examples=50, deadline=None)
@given(ANY_SETTINGS)
def test_connecting_twice_changes_nothing(text: str) -> None:
    once = cc.connect(text)
    twice = cc.connect(once.text, through_json(once.journal))
    assert twice == once
    assert cc.connect(once.text).text == once.text


@pytest.mark.parametrize(
    "command",
    [
        "git mem hook claude-code",
        "/usr/bin/git mem hook claude-code",
        "/home/lin/.local/bin/git-mem hook claude-code",
        '"/opt/my tools/git-mem" hook claude-code',
        "'C:\\Program Files\\gitmem\\git-mem.exe' hook claude-code",
        "git -C /home/lin mem hook claude-code",
        "GIT_MEM_OFF=1 git mem hook claude-code || true",
        "bash -lc 'git mem hook claude-code' 2>/dev/null",
        "echo hello; git mem hook claude-code",
    ],
)
def test_our_hook_is_known_however_its_command_is_wrapped(command: str) -> None:
    group = {"matcher": "x", "hooks": [{"type": "command", "command": command, "timeout": 99}]}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ls"}]}, group]}})
    assert cc.connected(text) == {"Stop"}
    assert json.loads(cc.disconnect(text) or "") == {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ls"}]}]}
    }


@pytest.mark.parametrize(
    "command",
    [
        "git mem hook codex",
        "git mem hook claude-code-next",
        "digit mem hook claude-code",
        "git mem search hook claude-code",
        "echo 'git mem hook claude-code'",
        "# git mem hook claude-code",
        "true # git mem hook claude-code",
    ],
)
def test_another_command_is_not_taken_for_ours(command: str) -> None:
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
    assert cc.connected(text) == set()
    assert cc.disconnect(text) == text


def test_our_hook_is_known_when_its_words_stand_in_args() -> None:
    hook = {"type": "command", "command": "git", "args": ["mem", "hook", "claude-code"]}
    assert cc.connected(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}})) == {"Stop"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"hooks": {\n  "Stop" [] }}', "not valid JSON: expected `:` at line 2, column 10"),
        ('{"hooks": []}', "`hooks` is not an object at line 1, column 11"),
        ('{\n "hooks": {"SessionStart": {}}}', "`hooks.SessionStart` is not an array at line 2, column 28"),
        ("[]", "the whole is not an object at line 1, column 1"),
    ],
)
def test_settings_that_cannot_be_edited_are_refused_with_their_place(text: str, message: str) -> None:
    with pytest.raises(Refused) as refused:
        cc.connect(text)
    assert refused.value.message == message


def test_hooks_switched_off_as_a_whole_are_seen() -> None:
    assert cc.switched_off('{"disableAllHooks": true}')
    assert (
        not cc.switched_off(None)
        and not cc.switched_off("{}")
        and not cc.switched_off('{"disableAllHooks": false}')
    )


# -- disconnect, nothing changed in between --------------------------------------------------------


@settings(max_examples=400, deadline=None)
@given(ANY_SETTINGS)
def test_disconnect_gives_back_the_very_bytes_of_before(text: str) -> None:
    new, journal = pair(text)
    assert new != text
    assert cc.disconnect(new, journal) == text


@settings(max_examples=200, deadline=None)
@given(ANY_SETTINGS)
@example('{"hooks":{"Stop":[],// l\n"UserPromptSubmit":[]/* a\n b */ /* c */,},}')
@example('{"hooks":{"Stop":[],// l\n"UserPromptSubmit":[]/* c */,},}')
def test_disconnect_without_a_journal_still_leaves_every_value_and_comment(text: str) -> None:
    back = cc.disconnect(cc.connect(text).text)
    assert back is not None and cc.connected(back) == set()
    assert without_ours(plain(back)) == without_ours(plain(text))
    if not any(
        groups == [] for groups in [plain(text).get("hooks", [1]), *plain(text).get("hooks", {}).values()]
    ):
        assert "".join(back.split()) == "".join(text.split()) or plain(text).get("hooks") == {}


@pytest.mark.parametrize(
    "text", [None, "", "\n", "\ufeff", "{}", "{ }\r\n", '{"hooks":{}}', '{"hooks": {"SessionEnd": [ ]}}']
)
def test_disconnect_gives_back_an_absent_or_empty_file(text: str | None) -> None:
    new, journal = pair(text)
    assert cc.disconnect(new, journal) == text
    edited = new.replace('"timeout": 5', '"timeout": 7').replace('"timeout":5', '"timeout":7')
    assert edited != new
    assert cc.disconnect(edited, journal) == text


def test_the_journal_holds_none_of_the_settings() -> None:
    text = '{"env": {"API_TOKEN": "s3cr3t"}, "hooks": {"SessionEnd": []}}'
    assert "s3cr3t" not in json.dumps(pair(text)[1])


def test_a_second_connect_after_one_hook_was_lost_is_undone_together_with_the_first() -> None:
    new, journal = pair(PLAIN)
    lost = json.dumps(
        {**plain(new), "hooks": {k: v for k, v in plain(new)["hooks"].items() if k != "SessionEnd"}}, indent=2
    )
    again = cc.connect(lost, journal)
    assert cc.connected(again.text) == EVENTS
    back = cc.disconnect(again.text, through_json(again.journal))
    assert back is not None and plain(back) == plain(PLAIN)


def test_a_connect_that_completes_an_untouched_older_one_is_undone_to_the_first_text() -> None:
    # An older version that knew two events only.
    whole = dict(cc.TIMEOUTS_S)
    try:
        del cc.TIMEOUTS_S["SessionEnd"]
        older = cc.connect(PLAIN)
    finally:
        cc.TIMEOUTS_S.update(whole)
    newer = cc.connect(older.text, through_json(older.journal))
    assert cc.connected(newer.text) == EVENTS
    assert cc.disconnect(newer.text, through_json(newer.journal)) == PLAIN


# -- disconnect, edited in between -----------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(ANY_SETTINGS, st.sampled_from(["// mine\n", "/* mine */", "\n\n", "\t"]), st.booleans())
def test_text_that_was_added_in_between_stays_and_only_ours_goes(text: str, mine: str, at_end: bool) -> None:
    new, journal = pair(text)

    def edit(settings_text: str) -> str:
        place = len(settings_text) if at_end else settings_text.index("{") + 1
        return settings_text[:place] + mine + settings_text[place:]

    if (at_end and "\n" in text[text.rindex("}") :]) or not at_end or "//" not in text[text.rindex("}") :]:
        back = cc.disconnect(edit(new), journal)
        empty = not plain(text)
        assert back == edit(text) or (
            empty and back is not None and plain(back) == {} and mine.strip() in back
        )


@settings(max_examples=200, deadline=None)
@given(neat(), st.sampled_from(["new: 新", "x // y"]))
def test_a_value_that_was_changed_in_between_stays_and_every_other_line_is_as_before(
    text: str, value: str
) -> None:
    text = text.replace("{", '{"mark": "OLD",', 1) if plain(text) else text.replace("{", '{"mark": "OLD"', 1)
    new, journal = pair(text)
    assert cc.disconnect(new.replace("OLD", value), journal) == text.replace("OLD", value)


def after(text: str, edit: Any) -> str | None:
    new, journal = pair(text)
    changed = edit(new)
    assert changed != new, "the edit did nothing"
    return cc.disconnect(changed, journal)


def test_a_changed_timeout_and_a_changed_command_of_ours_go_too() -> None:
    assert after(PLAIN, lambda t: t.replace('"timeout": 5', '"timeout": 20')) == PLAIN
    assert after(PLAIN, lambda t: t.replace('"git mem hook', '"/opt/x/git-mem hook')) == PLAIN


def test_a_hook_that_the_user_put_into_our_group_stays_with_its_group() -> None:
    theirs = '          { "type": "command", "command": "date" }\n'
    marker = '"timeout": 2\n          }\n'
    back = after(PLAIN, lambda t: t.replace(marker, marker.rstrip("\n") + ",\n" + theirs))
    assert back is not None
    assert plain(back)["hooks"]["SessionEnd"] == [{"hooks": [{"type": "command", "command": "date"}]}]
    assert theirs in back and cc.connected(back) == set()
    assert back.startswith(PLAIN.removesuffix("  },\n}\n"))


def test_a_hook_moved_into_a_group_of_the_users_goes_alone() -> None:
    text = json.dumps(
        {"hooks": {"Stop": [{"hooks": [{**OURS, "timeout": 1}, {"type": "command", "command": "a"}]}]}}
    )
    assert cc.disconnect(text) == '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}'


def test_a_group_added_after_ours_keeps_its_place_and_its_comment() -> None:
    text = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'
    mine = '    ],\n    "PreToolUse": [ // guard\n      {"hooks": []}\n    ],\n    "SessionEnd": ['
    back = after(text, lambda t: t.replace('    ],\n    "SessionEnd": [', mine))
    assert (
        back
        == '{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ // guard\n      {"hooks": []}\n    ]\n  }\n}\n'
    )


def test_an_empty_list_that_was_there_before_stays_and_one_that_was_not_goes() -> None:
    text = '{\n  "hooks": {\n    "UserPromptSubmit": [ ],\n    "Stop": []\n  }\n}\n'
    assert after(text, lambda t: t.replace('"timeout": 2', '"timeout": 3')) == text


def test_a_comment_written_into_our_group_keeps_the_group() -> None:
    back = after(
        "{}\n", lambda t: t.replace('"UserPromptSubmit": [', '"UserPromptSubmit": [ // why: ask Lin')
    )
    assert back is not None and "// why: ask Lin" in back
    assert plain(back) == {"hooks": {"UserPromptSubmit": []}}


def test_our_hook_under_a_hidden_duplicate_key_goes_too() -> None:
    stop = '{"Stop": ' + json.dumps([{"hooks": [OURS]}])
    text = '{"hooks": ' + stop + '}, "hooks": ' + stop + ', "X": []}}'
    back = cc.disconnect(text)
    assert back is not None and "git mem" not in back
    assert plain(back) == {"hooks": {"X": []}}


def test_taking_ours_out_does_not_bring_a_hidden_duplicate_to_life() -> None:
    text = '{"hooks": {"Stop": [1]}, "hooks": {"Stop": ' + json.dumps([{"hooks": [OURS]}]) + "}}"
    assert cc.disconnect(text) == '{"hooks": {"Stop": [1]}, "hooks": {}}'


def test_a_file_reformatted_in_between_loses_ours_and_nothing_else() -> None:
    new, journal = pair(PLAIN)
    back = cc.disconnect(json.dumps(plain(new), separators=(",", ":")), journal)
    assert back == json.dumps(plain(PLAIN), separators=(",", ":"))


# -- places and files ------------------------------------------------------------------------------


def test_the_config_folder_follows_the_environment() -> None:
    assert cc.config_dir({"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"}) == Path("/c")
    assert cc.config_dir({"CLAUDE_CONFIG_DIR": "", "HOME": "/h"}) == Path("/h/.claude")
    assert cc.settings_path(Path("/c")) == Path("/c/settings.json")
    with pytest.raises(Refused):
        cc.config_dir({})


def test_the_skill_has_a_name_and_a_description_that_is_not_cut() -> None:
    head, body = cc.skill_bytes().decode().removeprefix("---\n").split("\n---\n", 1)
    meta = yaml.safe_load(head)
    assert meta["name"] == "git-mem" and 100 < len(meta["description"]) < 1536
    for line in (
        "git mem search WORDS",
        "git mem show ID",
        'git mem add "CONCLUSION" --quote "the user\'s exact words" --session',
    ):
        assert line in body


def test_a_skill_written_and_removed_leaves_no_folder_behind(tmp_path: Path) -> None:
    config = tmp_path / ".claude"
    made = apply(cc.write_skill(config, None))
    assert made == (config, config / "skills", config / "skills/git-mem")
    assert cc.write_skill(config, read_bytes(cc.skill_path(config))) == ()
    apply(cc.remove_skill(config, read_bytes(cc.skill_path(config)), made=made))
    assert list(tmp_path.iterdir()) == []


def test_a_skill_that_somebody_changed_is_neither_overwritten_nor_removed(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        cc.write_skill(tmp_path, b"mine")
    assert cc.remove_skill(tmp_path, b"mine") == ()


def test_a_link_stays_a_link_and_the_mode_of_its_file_stays(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "claude.json", tmp_path / "settings.json"
    real.parent.mkdir()
    real.write_bytes(b"{}\r\n")
    real.chmod(0o640)
    link.symlink_to(Path("dotfiles/claude.json"))
    made = cc.connect(read_text(link))
    apply((FileWrite(link, made.text.encode()),))
    assert link.is_symlink() and os.readlink(link) == "dotfiles/claude.json"
    assert real.stat().st_mode & 0o777 == 0o640 and cc.connected(read_text(real)) == EVENTS
    back = cc.disconnect(read_text(link), made.journal)
    apply((FileWrite(link, (back or "").encode()),))
    assert real.read_bytes() == b"{}\r\n"
    assert sorted(p.name for p in real.parent.iterdir()) == ["claude.json"]


def test_a_plan_that_cannot_be_laid_down_whole_changes_nothing(tmp_path: Path) -> None:
    first = tmp_path / "a.json"
    first.write_bytes(b"old")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(Refused):
        apply((FileWrite(first, b"new"), FileWrite(tmp_path / "file" / "b.json", b"new")))
    assert first.read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "file"]


def test_settings_that_are_not_utf8_are_refused_and_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes('{\n"a": "é"}'.encode("latin-1"))
    with pytest.raises(Refused, match="is not UTF-8 at line 2"):
        read_text(path)


def test_a_new_file_follows_the_umask_and_a_given_mode(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        apply((FileWrite(tmp_path / "a", b""), FileWrite(tmp_path / "b", b"", 0o600)))
    finally:
        os.umask(old)
    assert [(tmp_path / n).stat().st_mode & 0o777 for n in "ab"] == [0o640, 0o600]
