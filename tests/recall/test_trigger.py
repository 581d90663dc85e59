"""Whether a turn is looked at: first turns, changes of project, and phrases that point at memory."""

from __future__ import annotations

import pytest

from gitmem import resources
from gitmem.model.registry import Profile
from gitmem.recall import cues, trigger
from gitmem.recall.session import Session
from tests.recall.world import profiles_file

ORDINARY = (
    "run it before the commit",
    "run the linter before you commit, please",
    "remember to close the file",
    "remember to add a test for the empty list",
    "the usual suspects: null checks and off-by-one",
    "usual suspects are missing semicolons",
    "as usual the tests fail",
    "as usual, CI is red",
    "the parser works as before, but the tests are slow",
    "revert it so that it behaves as before",
    "keep the API as before, only rename the flag",
    "make it work like before the refactor",
    "store the last result in memory",
    "load the whole file from memory",
    "read the bytes from memory-mapped files",
    "the page is served from memory cache",
    "check memory usage of the worker",
    "it leaks, check memory allocation in the loop",
    "what is the status code of this response",
    "return the status of the job as JSON",
    "print the status of the queue every second",
    "show the git status of the repo",
    "last time I ran it the build broke",
    "上次我跑的时候报错了",
    "把我喜欢的列表页改成两栏",
    "open the my preferences tab",
    "is it done in a transaction or row by row?",
    "is it finished executing before the callback runs?",
    "add a function that checks if the task is done",
    "write a progress bar for the upload",
    "the button says 'continue where you left off', make it blue",
    "add a 'pick up where you left off' banner to the page",
    "rename last_week to previous_week",
    "select rows from last week where total > 10",
    "our convention talk was cancelled, remove it from the site",
    "add a column `my_preference` to the table",
    "the user preferences page is broken",
    "implement a rememberMe checkbox",
    "do not remember the scroll position",
    "show a toast 'we decided to refund you'",
    "parse 'git memory' as two words",
    "as I usually would in C, use a pointer here",
    "把惯用法改成列表推导式",
    "这个函数一般返回空列表",
    "运行之前先提交",
    "上次提交之后哪些文件变了",
    "照旧代码的写法改一下测试",
    "写一个进度条",
    "任务完成了就发一封邮件",
    "判断任务是否完成",
    "如果跑完了就退出",
    "把“继续上次播放”按钮改成蓝色",
    "增加“记住我”选项",
    "不要记录日志到标准输出",
    "别记录 debug 日志",
    "内存占用太高，检查一下",
    "到哪一步都要打日志",
    "按默认的惯例命名变量就行",
    "这段惯性导航代码有问题",
    "我一般化了这个接口，检查一下",
)  # fmt: skip

TO_MEMORY = (
    "set it up the way I like", "format it as I usually do", "do you remember which database we chose", "what did we decide about the cache",
    "as we agreed, deploy on Friday", "same as last time, please", "I already told you which package manager to use", "check your memory first",
    "what's my preference for colours?", "name it by our conventions", "like last time", "Remember when we moved to uv?", "last time we used a script for this",
    "按老规矩来", "像上次一样部署", "你还记得我用什么配色吗", "我们之前怎么决定的", "按我的习惯排版", "我跟你说过不要用 npm", "上次我们用的哪个库", "照旧", "照旧，谢谢",
    "我的偏好是什么", "和以前一样就行", "就按惯例来",
)  # fmt: skip

TO_PROGRESS = (
    "is it done?", "where were we", "Where did we leave off?", "what's the status of the migration?", "any progress on chapter 4?", "what's left to do?",
    "pick up where we left off", "did it finish?", "跑完了吗", "上次做到哪了？", "进展如何", "还剩什么没做", "接着上次的做", "完成了吗？", "进度怎么样",
)  # fmt: skip

OFF = (
    "This is off the record: I am leaving the company",
    "don't remember this",
    "please do not save this to memory",
    "这件事不要记",
    "别记住这个",
    "不要记住这句话",
    "接下来的内容不要记录",
)
NOT_OFF = (
    "不要记录日志到标准输出",
    "别记录 debug 日志",
    "do not remember the scroll position",
    "不要记日志",
    "不要记错端口",
    "turn the record off",
    "remember this",
    "I don't remember this function, what does it do?",
)


def profile(name: str) -> Profile:
    import yaml

    from gitmem.model.registry import build

    files = {
        one: yaml.safe_load(resources.read_text(f"templates/registry/{one}.yaml")) or {}
        for one in ("memory", "types")
    }
    files["profiles"] = yaml.safe_load(profiles_file())
    return build(files).profiles[name]


def decide(
    prompt: str,
    name: str = "working",
    session: Session | None = None,
    project: str | None = None,
    **more: bool,
) -> trigger.Decision:
    asked = {"in_session": True, "explicit": False, **more}
    return trigger.decide(prompt, profile(name), session or Session(turns=1), project, **asked)


@pytest.mark.parametrize("prompt", ORDINARY)
def test_ordinary_work_is_no_cue(prompt):
    assert (cues.memory(prompt), cues.progress(prompt)) == (None, None)


@pytest.mark.parametrize("prompt", TO_MEMORY)
def test_a_phrase_that_points_at_memory_is_a_cue(prompt):
    assert cues.memory(prompt)
    assert decide(prompt).fired


@pytest.mark.parametrize("prompt", TO_PROGRESS)
def test_asking_for_the_state_of_work_is_a_cue_of_its_own(prompt):
    decision = decide(prompt)
    assert decision.fired and decision.progress


@pytest.mark.parametrize("prompt", OFF)
def test_off_the_record_is_understood(prompt):
    assert cues.off_the_record(prompt)


@pytest.mark.parametrize("prompt", NOT_OFF)
def test_talk_about_logs_is_not_off_the_record(prompt):
    assert cues.off_the_record(prompt) is None


@pytest.mark.parametrize("prompt", ["AS I USUALLY DO", "ａｓ  ｉ\nusually do it", "what’s my preference?"])
def test_a_cue_is_heard_whatever_its_case_width_and_white_space(prompt):
    assert cues.memory(prompt)


def test_the_first_turn_of_a_session_is_looked_at_and_a_later_one_is_not():
    assert decide("rename it", session=Session()).reason == "first turn"
    assert not decide("rename it", session=Session(turns=1)).fired
    assert not decide("rename it", session=Session(turns=7), project="a").fired


def test_without_a_session_an_agents_call_is_a_later_turn():
    assert not decide("rename it", session=Session(), in_session=False).fired
    assert decide("as we agreed", session=Session(), in_session=False).fired


def test_a_change_of_project_is_between_two_that_are_known():
    def changed(before: str | None, now: str | None) -> bool:
        return decide("rename it", session=Session(turns=3, project=before), project=now).fired

    assert changed("a", "b")
    assert not changed("a", "a")
    assert not changed(None, "b")
    assert not changed("a", None)


def test_a_persons_call_is_never_held_back_unless_it_is_empty():
    assert decide("rename it", explicit=True, in_session=False).fired
    assert not decide("  \n", explicit=True).fired
    assert not decide("", "full").fired


@pytest.mark.parametrize("name", ["full", "personal"])
def test_full_and_personal_look_at_every_turn(name):
    assert decide("rename it", name, session=Session(turns=9)).fired


def test_a_cue_deep_inside_a_pasted_log_is_not_looked_for():
    assert cues.memory("x " * 4000 + "as we agreed") is None


def test_looking_for_a_cue_in_a_long_prompt_is_quick():
    import time

    began = time.perf_counter()
    cues.memory("as i usual " * 100_000)
    assert time.perf_counter() - began < 0.2
