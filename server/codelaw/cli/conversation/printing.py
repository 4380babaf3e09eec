"""A turn on the terminal, event by event."""

from __future__ import annotations

import time
from typing import Any

from codelaw.cli.terminal import DIM, GREEN, RED, YELLOW, Screen, in_parts, one_line, two_parts
from codelaw.protocol.outcomes import FAILED, figures

Json = dict[str, Any]

_PASSING = {"started": "… Compacting the chat", "summarising": "… Writing the summary"}
_ENDED = {"failed": "The compaction failed.", "cancelled": "The compaction was cancelled."}


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

    def event(self, event: Json) -> None:
        """Show one event; kinds of a newer server are passed over."""
        kind, streamed = event.get("kind"), self._block
        if kind not in {"thought", "answer", "usage"}:
            self._block = None
        match kind:
            case "turn_started":
                self._unresolved(event.get("mentions", []))
            case "thought" | "answer":
                self._text(event)
            case "tool_call":
                self._call(event)
            case "todo":
                for item in event["items"]:
                    self._say(f"  {_TODO.get(item['status'], '·')} {item['content']}")
            case "usage" if not event.get("parent"):
                self._window = event["contextTokens"], event["contextWindow"]
            case "retry":
                withdrawn = " What it had said so far is withdrawn." if streamed else ""
                wait = f" in {event['inSeconds']:.0f} s" if event["inSeconds"] >= 1 else ""
                self._screen.line(f"↻ Asking again{wait}: {one_line(event['reason'], 300)}.{withdrawn}", style=YELLOW)
            case "compaction":
                self._compaction(event)
            case "mcp":
                self._server(event["server"], event["state"])
            case "hook":
                self._hook(event)
            case "notice":
                self._noticed.add(event["message"])
                self._screen.line(event["message"], style=_LEVELS.get(event["level"], DIM))
            case "steer" if event.get("state") == "returned":
                self._screen.line(f"Not sent, because the turn ended before: {event['text']}", style=YELLOW)
                self._say("Send it again if it is still wanted.")
            case _:
                pass

    def result(self, result: Json) -> None:
        """The end of the turn."""
        self._screen.gap()
        for change in result.get("changes", []):
            counts = f"+{change['added']} -{change['removed']}"
            self._say(f"{change['kind']} {change.get('path') or change['uri']} {counts}")
        reason = result["stopReason"]
        if reason != "finished":
            error: Json = result.get("error") or {}
            message = error.get("message") or ""
            stopped = "" if reason == "refused" and message else _STOPPED.get(reason, reason)
            self._screen.line(f"{stopped} {message}".strip(), style=RED if reason == "failed" else YELLOW)
            if error.get("hint"):
                self._screen.line(error["hint"], style=DIM)
            if error.get("code") in ("auth_failed", "spending_limit", "model_unavailable"):
                self._screen.line("`codelaw doctor` shows what is configured, and whether it answers.", style=DIM)
        self._screen.line(self._bill(result), style=DIM)

    def report(self, report: Json) -> None:
        """How a compaction went: its message word for word, and the figures where something was cut.

        In a conversation it names the commands that undo and show what was archived. A message that a notice has said
        is not said again.
        """
        self.compacted = True
        style = YELLOW if report["reason"] in FAILED or report["reason"] == "cancelled" else DIM
        if report["message"]:
            if report["message"] not in self._noticed:
                self._screen.line(report["message"], style=style)
            style = DIM
        if report["compacted"] or not report["message"]:
            hints = ["/restore undoes it"] if report.get("checkpointId") else []
            hints += ["/summary shows it"] if report["roundsArchived"] else []
            hint = f"; {', '.join(hints)}" if self._talking and hints else ""
            self._screen.line(f"{figures(report)}{hint}", style=style)

    def _say(self, text: str) -> None:
        """One line beside what was asked for."""
        self._screen.line(one_line(text), style=DIM)

    def _compaction(self, event: Json) -> None:
        phase = event.get("phase", "")
        if phase in _PASSING:
            self._screen.passing(_PASSING[phase])
        elif (report := event.get("report")) is not None:
            self.report(report)
        elif phase in _ENDED:
            self._screen.line(_ENDED[phase], style=YELLOW)

    def _text(self, event: Json) -> None:
        """Text that streams; what the model says of its work for the user begins with a mark."""
        kind, delta, progress = event["kind"], event["delta"], event.get("progress", False)
        block = (kind, event.get("step", 0), progress)
        if self._block != block:
            self._screen.end_line()
            if kind == "answer" and self._worked:
                self._screen.gap()
            self._block = block
            delta = f"› {delta}" if progress else delta
        self._worked = True
        self._screen.stream(delta, aside=kind == "thought", style=DIM if kind == "thought" else "", prose=True)

    def _call(self, event: Json) -> None:
        self._worked = True
        title, status = self._title(event), event["status"]
        if status == "running":
            self._screen.passing(f"… {title}")
        if status not in _MARKS:
            return
        mark, style = _MARKS[status]
        # What a subagent has called stands above the line of its own call.
        mark = f"↳ {mark}" if event.get("parent") else mark
        said = [status if status in ("rejected", "interrupted") else "", event.get("summary")]
        rest = "".join(f" · {one}" for one in said if one)
        self._screen.line(two_parts(f"{mark} {title}", rest), style=style)

    def _unresolved(self, mentions: list[Json]) -> None:
        names = [f"@{mention['path']}" for mention in mentions if mention.get("kind") == "unresolved"]
        for words, special in (("Not a file or folder here", False), ("Not found", True)):
            if listed := [name for name in names if (":" in name) is special]:
                self._say(f"{words}: {', '.join(listed)}")

    def _title(self, event: Json) -> str:
        """What a call is called: of a command the command, since its description is only the model's word."""
        arguments: Json = event.get("args") or {}
        command = arguments.get("command")
        if event["tool"] == "Bash" and isinstance(command, str):
            self._commands[event["callId"]] = command
        known = self._commands.get(event["callId"])
        return f"$ {known}" if known else event.get("title") or event["tool"]

    def _hook(self, event: Json) -> None:
        """One line for a run that has ended, and one that passes while it goes on (X-7)."""
        status, line = event["status"], f"Hook {event['event']}: {event['name']}"
        if status == "running":
            self._screen.passing(f"… {line}")
            return
        said = f": {event['message']}" if event.get("message") else ""
        style = DIM if status == "passed" else YELLOW
        self._screen.line(one_line(f"{line} · {status}, {event['seconds']:.1f} s{said}", 300), style=style)

    def _server(self, name: str, state: str) -> None:
        """A server for which the turn waits, and that it is ready; of others the notices tell."""
        if state == "starting" and not self._worked and name not in self._awaited:
            self._awaited.add(name)
            self._say(f"… The server {name} is starting")
        elif state == "ready" and name in self._awaited:
            self._awaited.remove(name)
            self._say(f"The server {name} is ready")

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
