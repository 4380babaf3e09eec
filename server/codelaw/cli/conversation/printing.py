"""A turn on the terminal, event by event."""

from __future__ import annotations

import time
from collections.abc import Container
from typing import Any

from codelaw.cli.terminal import DIM, GREEN, RED, YELLOW, Screen, in_parts, one_line, two_parts
from codelaw.protocol.outcomes import FAILED, figures

Json = dict[str, Any]

_PASSING = {"started": "… Compacting the chat", "summarising": "… Writing the summary"}
_ENDED = {"failed": "The compaction failed.", "cancelled": "The compaction was cancelled."}


def show_event(screen: Screen, event: Json, *, talking: bool, said: Container[str] = ()) -> None:
    """One `compaction` event: a line that passes, or at the end the report. Phases of a newer server show nothing."""
    phase, report = event.get("phase", ""), event.get("report")
    if phase in _PASSING:
        screen.passing(_PASSING[phase])
    elif report is not None:
        show_report(screen, report, talking=talking, said=said)
    elif phase in _ENDED:
        screen.line(_ENDED[phase], style=YELLOW)


def show_report(screen: Screen, report: Json, *, talking: bool, said: Container[str] = ()) -> None:
    """How a compaction went: its message word for word, and the figures where something was cut.

    In a conversation (`talking`) it names the commands that undo and show what was archived. A message that was `said`
    in a notice is not said again.
    """
    style = YELLOW if report["reason"] in FAILED or report["reason"] == "cancelled" else DIM
    if report["message"]:
        if report["message"] not in said:
            screen.line(report["message"], style=style)
        style = DIM
    if report["compacted"] or not report["message"]:
        hints = ["/restore undoes it"] if report.get("checkpointId") else []
        hints += ["/summary shows it"] if report["roundsArchived"] else []
        hint = f"; {', '.join(hints)}" if talking and hints else ""
        screen.line(f"{figures(report)}{hint}", style=style)


def show_archive(screen: Screen, archive: Json) -> None:
    """The summaries as they are, then a line for each compaction that can be undone."""
    if archive["text"]:
        screen.line(archive["text"], aside=False)
    else:
        screen.line("Nothing of this chat is archived.", style=DIM)
    for checkpoint in archive["checkpoints"]:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(checkpoint["at"]))
        count = checkpoint["roundsArchived"]
        what = f"{count} round{'' if count == 1 else 's'} archived" if count else "old results thinned"
        screen.line(f"{checkpoint['id']}  {when}  {what}", style=DIM)


_MARKS = {
    "completed": ("✓", GREEN),
    "failed": ("✗", RED),
    "rejected": ("⊘", YELLOW),
    "interrupted": ("⊘", YELLOW),
}
_TODO = {"pending": "☐", "in_progress": "▶", "completed": "☑", "cancelled": "☒"}
_LEVELS = {"error": RED, "warning": YELLOW, "info": DIM}
_STOPPED = {
    "cancelled": "Cancelled.",
    "step_limit": "Stopped: the limit of steps is reached.",
    "token_limit": "Stopped: the limit of tokens is reached.",
    "refused": "The model refused.",
    "failed": "The turn failed.",
}


class TurnPrinter:
    """Prints one turn: thoughts dim, the answer as it is, a line for each call, notices, and the bill."""

    def __init__(self, screen: Screen, *, talking: bool = False) -> None:
        """In a conversation (`talking`), lines may name its commands."""
        self._screen = screen
        self._talking = talking
        self._block: tuple[str, int, bool] | None = None
        """Kind and step of the text that is being streamed, and whether it is told of the work."""
        self._worked = False
        self._commands: dict[str, str] = {}
        """By call, since events after the first leave the arguments out."""
        self._window: tuple[int, int] | None = None
        self._noticed: set[str] = set()
        self._awaited: set[str] = set()
        """Servers that were told to be starting."""
        self.compacted = False
        """A compaction's report was shown."""

    def event(self, event: dict[str, Any]) -> None:
        """Show one event; kinds of a newer server are passed over."""
        match event.get("kind"):
            case "turn_started":
                self._unresolved(event.get("mentions", []))
            case "thought" | "answer":
                self._text(event["kind"], event.get("step", 0), event["delta"], reported=event.get("progress", False))
            case "tool_call":
                self._call(event)
            case "todo":
                self._todo(event["items"])
            case "usage" if not event.get("parent"):
                self._window = event["contextTokens"], event["contextWindow"]
            case "retry":
                withdrawn = " What it had said so far is withdrawn." if self._block else ""
                self._block = None
                wait = f" in {event['inSeconds']:.0f} s" if event["inSeconds"] >= 1 else ""
                self._screen.line(f"↻ Asking again{wait}: {one_line(event['reason'], 300)}.{withdrawn}", style=YELLOW)
            case "compaction":
                self._block = None
                show_event(self._screen, event, talking=self._talking, said=self._noticed)
                self.compacted = self.compacted or "report" in event
            case "mcp":
                self._server(event)
            case "hook":
                self._hook(event)
            case "notice":
                self._notice(event)
            case "steer" if event.get("state") == "returned":
                self._screen.line(f"Not sent, because the turn ended before: {event['text']}", style=YELLOW)
                self._screen.line("Send it again if it is still wanted.", style=DIM)
            case _:
                pass

    def result(self, result: dict[str, Any]) -> None:
        """The end of the turn."""
        self._screen.gap()
        for change in result.get("changes", []):
            counts = f"+{change['added']} -{change['removed']}"
            self._screen.line(one_line(f"{change['kind']} {change.get('path') or change['uri']} {counts}"), style=DIM)
        reason = result["stopReason"]
        if reason != "finished":
            error: dict[str, Any] = result.get("error") or {}
            reported = error.get("message") or ""
            said = (
                reported if reason == "refused" and reported else f"{_STOPPED.get(reason, reason)} {reported}".rstrip()
            )
            self._screen.line(said, style=RED if reason == "failed" else YELLOW)
            if error.get("hint"):
                self._screen.line(error["hint"], style=DIM)
            if error.get("code") in ("auth_failed", "spending_limit", "model_unavailable"):
                self._screen.line("`codelaw doctor` shows what is configured, and whether it answers.", style=DIM)
        self._screen.line(self._bill(result), style=DIM)

    def _text(self, kind: str, step: int, delta: str, *, reported: bool) -> None:
        """Text that streams; what the model has `reported` of its work for the user begins with a mark."""
        if self._block != (kind, step, reported):
            self._screen.end_line()
            if kind == "answer" and self._worked:
                self._screen.gap()
            self._block = (kind, step, reported)
            delta = f"› {delta}" if reported else delta
        self._worked = True
        self._screen.stream(delta, aside=kind == "thought", style=DIM if kind == "thought" else "", prose=True)

    def _call(self, event: dict[str, Any]) -> None:
        self._block = None
        self._worked = True
        title = self._title(event)
        if event["status"] not in _MARKS:
            if event["status"] == "running":
                self._screen.passing(f"… {title}")
            return
        mark, style = _MARKS[event["status"]]
        # What a subagent has called stands above the line of its own call.
        mark = f"↳ {mark}" if event.get("parent") else mark
        rest = f" · {event['summary']}" if event.get("summary") else ""
        if event["status"] in ("rejected", "interrupted"):
            rest = f" · {event['status']}{rest}"
        self._screen.line(two_parts(f"{mark} {title}", rest), style=style)

    def _unresolved(self, mentions: list[dict[str, Any]]) -> None:
        names = [f"@{mention['path']}" for mention in mentions if mention.get("kind") == "unresolved"]
        others = [name for name in names if ":" in name]
        files = [name for name in names if name not in others]
        for words, listed in (("Not a file or folder here", files), ("Not found", others)):
            if listed:
                self._screen.line(one_line(f"{words}: {', '.join(listed)}"), style=DIM)

    def _title(self, event: dict[str, Any]) -> str:
        """What a call is called: of a command the command, since its description is only the model's word."""
        arguments: dict[str, Any] = event.get("args") or {}
        command = arguments.get("command")
        if event["tool"] == "Bash" and isinstance(command, str):
            self._commands[event["callId"]] = command
        known = self._commands.get(event["callId"])
        return f"$ {known}" if known else event.get("title") or event["tool"]

    def _todo(self, items: list[dict[str, Any]]) -> None:
        self._block = None
        for item in items:
            self._screen.line(one_line(f"  {_TODO.get(item['status'], '·')} {item['content']}"), style=DIM)

    def _hook(self, event: dict[str, Any]) -> None:
        """One line for a run that has ended, and one that passes while it goes on (X-7)."""
        self._block = None
        status = event["status"]
        line = f"Hook {event['event']}: {event['name']}"
        if status == "running":
            self._screen.passing(f"… {line}")
            return
        said = f": {event['message']}" if event.get("message") else ""
        style = DIM if status == "passed" else YELLOW
        self._screen.line(one_line(f"{line} · {status}, {event['seconds']:.1f} s{said}", 300), style=style)

    def _server(self, event: dict[str, Any]) -> None:
        """A server for which the turn waits, and that it is ready; of others the notices tell."""
        name, state = event["server"], event["state"]
        if state == "starting" and not self._worked and name not in self._awaited:
            self._awaited.add(name)
            self._screen.line(one_line(f"… The server {name} is starting"), style=DIM)
        elif state == "ready" and name in self._awaited:
            self._awaited.remove(name)
            self._screen.line(one_line(f"The server {name} is ready"), style=DIM)

    def _notice(self, event: dict[str, Any]) -> None:
        self._block = None
        self._noticed.add(event["message"])
        self._screen.line(event["message"], style=_LEVELS.get(event["level"], DIM))

    def _bill(self, result: dict[str, Any]) -> str:
        usage = result["usage"]
        sent = usage["inputTokens"] + usage["cacheReadTokens"] + usage["cacheWriteTokens"]
        cached = f" ({_number(usage['cacheReadTokens'])} cached)" if usage["cacheReadTokens"] else ""
        steps = result["steps"]
        parts = [f"{steps} step{'' if steps == 1 else 's'}"]
        if sent or usage["outputTokens"]:  # else the model ended before it told
            parts.append(f"{_number(sent)} tokens in{cached}, {_number(usage['outputTokens'])} out")
        if usage.get("cacheMiss"):
            parts.append(f"cache missed: {usage['cacheMiss']['words']}")
        if usage.get("costUsd"):
            parts.append(f"${usage['costUsd']:.4f}")
        if self._window is not None and self._window[1]:
            parts.append(f"context {100 * self._window[0] / self._window[1]:.0f} %")
        return in_parts([*parts, f"chat {result['chatId']}"])


def _number(value: int) -> str:
    return f"{value:,}".replace(",", " ")
