"""A turn as a chat file tells it: the answer verbatim, everything else as short quoted lines (E-3)."""

from __future__ import annotations

from codelaw.domain.chats import Level, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.safety.unseen import legible
from codelaw.transcript.chat_file.chat_file import harmless
from codelaw.transcript.chat_file.fences import left_open
from codelaw.transcript.chat_file.timeline import Called, Compacted, Noted, Said, Story

LINE_CHARACTERS = 160
"""Of a quoted line."""
STATUS_CHARACTERS = 100
OF_A_CHILD = "↳ "
"""In front of what a child turn has called (X-4)."""
_LEVELS: dict[Level, str] = {"info": "Note", "warning": "Warning", "error": "Error"}
_WORDS = {"failed": "failed", "rejected": "refused", "interrupted": "interrupted"}
_ENDS = {
    "cancelled": "Stopped.",
    "step_limit": "Stopped: the turn has taken all its steps.",
    "token_limit": "Stopped: the turn has used all its tokens.",
    "refused": "The model refused to answer.",
    "failed": "The turn failed.",
}


def told(story: Story) -> str:
    """The body of the turn's block.

    While the turn runs, what is told later begins with what was told before, unless a step is asked again.
    """
    pieces: list[tuple[bool, str]] = []
    """Whether a piece is quoted, and its text."""
    spoken = False
    for part in story.parts:
        match part:
            case Said(kind="answer", text=text):
                pieces.append((False, harmless(text)))
                spoken = spoken or bool(text.strip())
            case Called() if part.settled:
                pieces.append((True, call_line(part)))
            case Noted(level=level, message=message):
                pieces.append((True, f"> - **{_LEVELS[level]}:** {one_line(message)}"))
            case Compacted(report=report):
                pieces.append((True, f"> - **Note:** {compaction_line(report)}"))
            case _:
                pass
    if story.result is not None:
        if not spoken and story.result.answer.strip():
            pieces.append((False, harmless(story.result.answer)))
        pieces += [(True, line) for line in end_lines(story, story.result)]
        return closed(_joined(pieces))
    return _joined(pieces)


def status(story: Story) -> str:
    """What goes on, in one line; empty when the turn has ended."""
    if not story.doing:
        return ""
    words = one_line(story.doing, STATUS_CHARACTERS).replace("*", "")
    return f"*{words} …*"


def call_line(call: Called) -> str:
    """A settled call in one quoted line."""
    line = f"> - {OF_A_CHILD if call.parent else ''}{one_line(call.title)}"
    if call.status in _WORDS:
        line += f" — **{_WORDS[call.status]}**"
    if call.summary:
        line += f": {one_line(call.summary)}"
    return line


def compaction_line(report: CompactionReport) -> str:
    """A compaction in one sentence."""
    if report.message:
        return one_line(report.message)
    return (
        f"{report.rounds_archived} older rounds were archived ({report.tokens_before} → {report.tokens_after} tokens)."
    )


def end_lines(story: Story, result: TurnResult) -> list[str]:
    """How a turn ended, where that is more than its answer."""
    known = {(part.code, part.message) for part in story.parts if isinstance(part, Noted)}
    lines = [
        f"> - **{_LEVELS[item.level]}:** {one_line(item.message)}"
        for item in result.notices
        if (item.code, item.message) not in known
    ]
    if result.changes:
        names = ", ".join(f"{change.path} (+{change.added} −{change.removed})" for change in result.changes)
        lines.append(f"> - **Changed:** {one_line(names, 2000)}")
    if result.error is not None:
        lines.append(
            f"> - **Error:** {one_line(result.error.message, 1000)} {one_line(result.error.hint, 1000)}".rstrip()
        )
    elif result.stop_reason in _ENDS:
        lines.append(f"> - **{_ENDS[result.stop_reason]}**")
    return lines


def one_line(text: str, most: int = LINE_CHARACTERS) -> str:
    """A text as a line that begins no other block of Markdown, with what hides in it made visible."""
    line = harmless(" ".join(legible(text).split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _joined(pieces: list[tuple[bool, str]]) -> str:
    body, before = "", False
    for quoted, text in pieces:
        if not text.strip():
            continue
        if body:
            body += "\n" if quoted and before else "\n\n"
        # A block of code that an answer leaves open would swallow what follows it.
        if quoted and not before and (fence := left_open(body)) is not None:
            body = f"{body.rstrip(chr(10))}\n{fence}\n\n"
        body += text if quoted else text.strip("\n")
        before = quoted
    return body


def closed(body: str) -> str:
    """A finished body: nothing in it reaches beyond its end."""
    fence = left_open(body)
    return body if fence is None else f"{body.rstrip(chr(10))}\n{fence}"
