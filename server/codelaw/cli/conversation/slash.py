"""Which lines at the prompt are commands, and which are messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

CHOICES = {"mode": ("agent", "ask", "plan"), "effort": ("default", "low", "medium", "high", "xhigh", "max")}
CARRY_OUT = "Carry out the plan."
"""What `/go` sends."""
HELP = """\
/new            start a new chat
/mode MODE      agent, ask (reads only) or plan (ends with a plan)
/effort EFFORT  how much the model does: default, low, medium, high, xhigh, max
/go             carry out the plan: agent mode, with the plan's todo list
/context        what the model would be sent now
/compact        archive older rounds behind a summary; Ctrl-C stops it
/restore [ID]   undo the newest compaction, or all back to that one
/summary        the summaries of what was archived, with their ids
/agents         the kinds of subagents, and what is wrong with files of yours
/undo           undo what the last turn did to files, not what you typed since
/help           this list
/quit           leave, as /exit and Ctrl-D do
Your own commands and skills, from .codelaw/commands, .codelaw/skills and the
like, stand below where there are any.
Any other line that begins with / is not sent. To send one, begin it with // or
a space.
Ctrl-C cancels the running turn. @path makes the model read that file first.
A paste of several lines is one message; Enter sends it. A \\ at the end of a
line goes on in the next one. \"\"\" alone on a line, not indented, begins a
longer text, and the same typed again ends it; a \"\"\" inside a paste does not."""

_USAGE = {"exit": "", **dict(re.findall(r"^/(\w+) (\[?[A-Z]+\b\]?)?", HELP, re.MULTILINE))}


@dataclass(frozen=True, slots=True)
class Command:
    """A command that can be done."""

    name: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line that begins like a command and is none; `hint` says what to type instead."""

    hint: str
    name: str = ""
    """Of what is not a command here, and may be one of the user's."""


def read(text: str) -> Command | Mistake | str:
    """A command, a mistake, or the message to send: `//x` sends `/x`."""
    if text.startswith("//"):
        return text[1:]
    if not text.startswith("/"):
        return text
    first, *words = text.split()
    name = first[1:].casefold()
    literal = "To send this as a message, begin it with // or a space."
    if name not in _USAGE:
        shown = f"{first[:60]}…" if len(first) > 60 else first
        return Mistake(f"There is no command {shown}; /help lists them. {literal}", first[1:])
    choices = CHOICES.get(name, ())
    usage = f"[{'|'.join(choices)}]" if choices else _USAGE[name]
    if len(words) > (1 if usage else 0) or (choices and not {*words} <= {*choices}):
        return Mistake(f"Usage: {f'/{name} {usage}'.rstrip()}. {literal}")
    return Command("quit" if name == "exit" else name, words[0] if words else None)
