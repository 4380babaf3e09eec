"""The pinned instruction: the goal of the turn and how far it has come, at the end of the view (L-7, L-8)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.transcript.summaries.harmless import plain

GOAL_CHARACTERS = 200

_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
_TAG = re.compile(r"<(?=\s*/?\s*(?:system-reminder|pin)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ActiveTask:
    """What the turn is about (L-8)."""

    goal: str
    """The beginning of the user's words, with `...` behind it when they go on."""
    status: str = ""
    """How far the todo list has come, in one line; empty without a list."""


def active_task(question: str, recap: str = "") -> ActiveTask:
    """The task that a user's message sets; `question` is as typed or as stored, `recap` that of the todo list (T-7)."""
    words = _TAG.sub("&lt;", plain(_REMINDER.sub("", question)).strip())
    goal = words if len(words) <= GOAL_CHARACTERS else f"{words[:GOAL_CHARACTERS]}..."
    return ActiveTask(goal, recap)


def pin(task: ActiveTask) -> Fragment:
    """The fragment that stands last in the view, and is never stored (L-6)."""
    return Fragment("pin", render("pin", goal=task.goal, status=task.status))
