"""Compaction on the terminal: its progress, and how it went (K-10)."""

from __future__ import annotations

import time
from collections.abc import Container
from typing import Any

from codelaw.cli.terminal import DIM, YELLOW, Screen
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
