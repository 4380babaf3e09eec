"""Which hooks a moment concerns (X-7)."""

from __future__ import annotations

import pytest

from codelaw.hooks.matching import Hook, concerned, misread


@pytest.mark.parametrize(
    ("matcher", "tool", "fits"),
    [
        *(("", "Bash", True), ("*", "Bash", True), (".*", "Bash", True), ("Bash", "Bash", True)),
        *(("bash", "Bash", False), ("Edit|Write", "Write", True), ("Edit | Write", "Write", True)),
        *(("Edit|Write", "MultiEdit", False), ("*Edit", "MultiEdit", True)),
        *(("mcp__github__*", "mcp__github__search", True), ("mcp__.*", "mcp__github__search", True)),
        *(("mcp__github__*", "mcp__gitlab__search", False), ("Rea", "Read", False)),
    ],
)
def test_a_matcher_is_names_with_stars(matcher: str, tool: str, fits: bool):
    hook = Hook("PreToolUse", "check", matcher)
    assert concerned([hook], "PreToolUse", tool) == ((hook,) if fits else ())


def test_a_moment_without_a_subject_concerns_every_hook_of_it():
    hooks = [Hook("Stop", "a", "Bash"), Hook("PreToolUse", "b")]
    assert concerned(hooks, "Stop", "") == (hooks[0],)


def test_the_same_command_runs_once():
    twice = [Hook("PreToolUse", "a", "Edit"), Hook("PreToolUse", "b"), Hook("PreToolUse", "a", "*")]
    assert [hook.command for hook in concerned(twice, "PreToolUse", "Edit")] == ["b", "a"]


@pytest.mark.parametrize("matcher", ["^Bash$", "Edit(src/**)", "(a+)+$", "x" * 501, "Bash\n"])
def test_what_is_no_matcher_is_told(matcher: str):
    assert misread(matcher)


def test_stars_in_great_number_are_matched_at_once():
    hook = Hook("PreToolUse", "check", "*a" * 200)
    assert concerned([hook], "PreToolUse", "a" * 199 + "b") == ()
