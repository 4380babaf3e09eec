"""What a hook's end says, and what several come to (X-7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.domain.files import ProcessResult
from codelaw.hooks.answers import LONGEST_CONTEXT, LONGEST_REASON, HookAnswer, answer, merged
from codelaw.hooks.matching import Hook

BEFORE = Hook("PreToolUse", "check")


def ended(code: int | None = 0, out: str = "", err: str = "", **more: Any) -> ProcessResult:
    given: dict[str, Any] = {"stdout_omitted": 0, "stderr_omitted": 0, "timed_out": False, "seconds": 0.1, **more}
    return ProcessResult(code, out, err, **given)


def said(event: Any, **fields: Any) -> HookAnswer:
    return answer(event, ended(out=json.dumps(fields)))


def test_nothing_said_is_no_opinion():
    assert answer("PreToolUse", ended()) == HookAnswer()


def test_exit_status_2_blocks_with_standard_error_as_the_reason():
    assert answer("PreToolUse", ended(2, "{}", "not on a Friday\n")) == HookAnswer("deny", "not on a Friday")
    assert answer("Stop", ended(2)).verdict == "deny", "without a reason too"


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (ended(1, err="Traceback\nKeyError: 'x'\n"), "it ended with exit code 1: KeyError: 'x'"),
        (ended(-11), "it ended with exit code -11"),
        (ended(None, timed_out=True), "it was killed, because it took too long"),
        (ended(None, limit="It took too much memory."), "it was killed: It took too much memory."),
        (ended(out='{"decision": '), "what it printed is not JSON that can be read"),
        (ended(out="{" * 100_000), "what it printed is not JSON that can be read"),
        (ended(out='{"reason": "x"}', stdout_omitted=9), "it printed more than is read"),
        (ended(out='{"continue": "no"}'), "`continue` of what it printed is not a boolean"),
        (ended(out='{"additionalContext": 7}'), "`additionalContext` of what it printed is not text"),
        (ended(out='{"decision": "perhaps"}'), "`decision` is 'perhaps', which means nothing"),
        (
            ended(out='{"permissionDecision": "deny", "reason": "x", "permissionDecision": "allow"}'),
            "`permissionDecision` stands twice in what it printed",
        ),
        (
            ended(out='{"permissionDecision": "yes"}'),
            "`permissionDecision` is 'yes', which means nothing",
        ),
    ],
)
def test_what_fails_says_nothing_but_why(end: ProcessResult, why: str):
    failed = answer("PreToolUse", end)
    assert (failed.status, failed.verdict, failed.problem) == ("failed", None, why)


def test_what_denies_in_one_place_is_not_taken_back_in_another():
    allow = {"permissionDecision": "allow"}
    assert said("PreToolUse", permissionDecision="deny", hookSpecificOutput=allow).verdict == "deny"
    assert said("PreToolUse", decision="block", hookSpecificOutput=allow).verdict == "deny"
    assert said("PreToolUse", decision="perhaps", hookSpecificOutput=allow).status == "failed"
    assert said("PreToolUse", continue_=1, hookSpecificOutput=allow).verdict == "allow"


def test_an_answer_counts_behind_other_lines_where_these_mean_nothing():
    denied = json.dumps({"hookSpecificOutput": {"permissionDecision": "deny"}}, indent=2)
    assert answer("PreToolUse", ended(out=f"> check\n\n{denied}\n")).verdict == "deny"
    assert answer("PreToolUse", ended(out=f"\ufeff{denied}")).verdict == "deny"
    for other in ("checking\n{1, 2}", 'checking\n{"a": 1}', "checking\n{", "[{}]", "a {"):
        assert answer("PreToolUse", ended(out=other)) == HookAnswer(), other
    # What a hook prints for a message is for the model, whatever it looks like.
    assert answer("UserPromptSubmit", ended(out=f"see\n{denied}")).context.startswith("see")


def test_the_fields_count_at_the_top_and_in_their_own_table():
    inner = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "big"}
    assert said("PreToolUse", hookSpecificOutput=inner) == said(
        "PreToolUse", permissionDecision="ask", permissionDecisionReason="big"
    )
    assert said("PreToolUse", hookSpecificOutput=inner) == HookAnswer("ask", "big")


def test_within_one_answer_the_strictest_word_counts():
    assert said("PreToolUse", permissionDecision="allow", decision="block", reason="no").verdict == "deny"
    assert said("PreToolUse", **{"permissionDecision": "allow", "continue": False}).verdict == "deny"


def test_only_before_a_tool_something_can_be_allowed():
    assert said("PreToolUse", decision="approve").verdict == "allow"
    assert said("PostToolUse", decision="approve").verdict is None
    assert said("UserPromptSubmit", permissionDecision="deny").verdict is None


def test_what_says_stop_when_the_turn_stops_lets_it():
    assert said("Stop", **{"continue": False, "decision": "block"}).verdict is None
    assert said("SubagentStop", **{"continue": False, "decision": "block"}).verdict is None
    assert said("Stop", decision="block", reason="the tests fail") == HookAnswer("deny", "the tests fail")


@pytest.mark.parametrize(
    ("event", "context"), [("UserPromptSubmit", "a rule"), ("SessionStart", "a rule"), ("Stop", "")]
)
def test_plain_text_is_context_where_context_is_asked_for(event: Any, context: str):
    assert answer(event, ended(out="a rule\n")) == HookAnswer(context=context)


def test_what_is_too_long_is_cut():
    assert len(said("PostToolUse", additionalContext="x" * 20_000).context) == LONGEST_CONTEXT
    assert len(answer("Stop", ended(2, err="x" * 20_000)).reason) == LONGEST_REASON


def test_deny_wins_over_ask_and_ask_over_allow():
    answers = [
        HookAnswer("allow", "fine"),
        HookAnswer("ask", "hm"),
        HookAnswer("deny", "no"),
        HookAnswer("deny", "never"),
    ]
    ways = [merged("PreToolUse", [(BEFORE, one) for one in answers[:many]]) for many in (1, 2, 4)]
    assert [(one.verdict, one.reason) for one in ways] == [("allow", "fine"), ("ask", "hm"), ("deny", "no never")]


def test_a_hook_that_fails_before_a_tool_asks_the_user_and_elsewhere_nothing():
    failed = HookAnswer(problem="it was killed")
    asked = merged("PreToolUse", [(BEFORE, failed), (BEFORE, HookAnswer("allow"))])
    assert (asked.verdict, asked.reason) == ("ask", "A hook failed: it was killed.")
    assert merged("Stop", [(BEFORE, failed)]).verdict is None


def test_all_hooks_of_a_moment_share_the_room_for_context():
    long = HookAnswer(context="x" * 8_000)
    contexts = merged("PostToolUse", [(BEFORE, long), (BEFORE, long), (BEFORE, long)]).contexts
    assert [len(text) for _, text in contexts] == [8_000, 2_000]
