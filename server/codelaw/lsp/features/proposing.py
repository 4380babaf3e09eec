"""Turns that propose: other lines in the place of a selection, or the message of a commit (E-3).

They run in ask mode, in which nothing can be changed, in a chat of their own that can be gone on with: it keeps its
mode. What is proposed is done by nobody but the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from codelaw.domain.edits import DocumentEdit
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion
from codelaw.domain.requests import Attachment, EditorState, Enclosed, LineRange, Snippet
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents.documents import path_of
from codelaw.lsp.documents.positions import line_at, line_starts
from codelaw.lsp.features.asking import lines_of, show_end, shown_path
from codelaw.lsp.features.contents import keep
from codelaw.lsp.features.features import BegunProposal
from codelaw.protocol import editor as params
from codelaw.templates.render import render
from codelaw.tools.changing.diffs import difference

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.chats import TurnResult
    from codelaw.domain.files import Buffer
    from codelaw.lsp.features.features import Features

from codelaw.domain.edits import Splice
from codelaw.transcript.chat_file.fences import Fences

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask

MOST_CHARACTERS = 7_500
"""Of the lines that are to be changed: an attachment holds no more, and what the model does not see it would lose."""
AROUND_LINES = 40
"""Before and after them that go along."""
REMEMBERED = 50
"""Turns that can still be asked for what they propose."""
ACCEPT = ApprovalOption("accept", "Accept", "allow_once")
REJECT = ApprovalOption("reject", "Reject", "reject")


async def edit(context: Features, asked: params.EditInEditor) -> object:
    """Begin a turn that proposes other lines for a selection, whole lines of it.

    Raises:
        Refusal: `invalid_text`: the document is not open, or not in this version any more, or has no such lines; too
            much is selected; a rule keeps it from the model. `model_unavailable`: no language model answers.
            `settings_unreadable`: nobody knows whether a rule does.
    """
    await context.configuration.look_again()
    context.configuration.effective.for_a_turn()
    _refuse_offline(context)
    buffer = context.documents.get(asked.uri)
    if buffer is None or (asked.version is not None and asked.version != buffer.version):
        message = "The document is not open." if buffer is None else "The document has changed in this moment."
        raise Refusal("invalid_text", message, "Select it in the editor, and ask again.")
    if (await context.session.contexts.looked_at(asked.uri)).unsent == "denied":
        raise Refusal("invalid_text", "A permission rule keeps this file from the model.", "Change it yourself.")
    first, last = (line - 1 for line in lines_of(asked.range))
    before = _lines(buffer, first, last)
    if not before:
        raise Refusal("invalid_text", "The document has no such lines.", "Select it in the editor, and ask again.")
    last = first + len(before) - 1
    if sum(len(line) + 1 for line in before) > MOST_CHARACTERS:
        message = f"More than {MOST_CHARACTERS} characters are selected."
        raise Refusal("invalid_text", message, "Select less, or ask for it in a chat.")
    sides = ((first, last), (max(0, first - AROUND_LINES), first - 1), (last + 1, last + AROUND_LINES))
    attachments = [
        Attachment(asked.uri, LineRange(begin, 0, end + 1, 0))
        for begin, end in sides
        if any(line.strip() for line in _lines(buffer, begin, end))
    ]
    text = render(
        "edit_selection",
        path=shown_path(context, asked.uri),
        first=first + 1,
        last=last + 1,
        text=asked.text.strip(),
        blank=not any(line.strip() for line in before),
        around=len(attachments) > 1,
    )
    state = EditorState(asked.uri, first, version=buffer.version)
    turn = await _begin(context, text, attachments, asked.chat_id, state)
    _remember(context, made := BegunProposal(turn, text, asked.uri, first, before))
    if not context.client.proposals:
        context.spawn(_offer(context, made))
    return turn.chat_id, turn.turn_id


async def commit_message(context: Features, asked: params.CommitMessage) -> object:
    """Begin a turn that proposes the message of the next commit; nobody commits.

    Raises:
        Refusal: see `Session.pending_commit`; `model_unavailable`: no language model answers.
    """
    _refuse_offline(context)
    place = path_of(asked.uri) if asked.uri is not None else None
    if asked.uri is not None and place is None:
        raise Refusal("folder_not_found", f"This machine has no folder {asked.uri}.", "Name the repository's folder.")
    pending = await SCOPE.get().wait(context.session.commits.pending(place))
    attachments: list[Enclosed] = [Snippet("staged changes" if pending.staged else "changes", pending.text)]
    if pending.subjects:
        attachments.append(Snippet("newest commits", "\n".join(pending.subjects)))
    text = render(
        "commit_message",
        staged=pending.staged,
        files=pending.files,
        subjects=bool(pending.subjects),
        withheld=pending.withheld,
        outside=pending.outside,
    )
    turn = await _begin(context, text, attachments, None, None)
    _remember(context, BegunProposal(turn, text))
    return turn.chat_id, turn.turn_id


async def proposal(context: Features, asked: params.TurnRef) -> params.Proposal:
    """Wait for the end of such a turn, and say what it proposes.

    Raises:
        Refusal: `turn_not_found`: it is none of them, or too many were begun since.
    """
    known = context.proposals.get((asked.chat_id, asked.turn_id))
    if known is None:
        message = "This turn was not begun to propose something, or by another server."
        raise Refusal("turn_not_found", message, "Open its chat.")
    result = await known.turn.result()
    lines, said = _proposed(result, known)
    place = known if known.uri else None
    return params.Proposal.of(place, stop_reason=result.stop_reason, lines=lines, said=said, error=result.error)


def _proposed(result: TurnResult, known: BegunProposal) -> tuple[tuple[str, ...] | None, str]:
    """The lines of an answer that was finished, and what else it says; a message may stand without a fence."""
    if result.stop_reason != "finished":
        return None, result.answer.strip()
    lines, said = last_block(result.answer)
    if lines is None and not known.uri and said:
        return tuple(said.split("\n")), ""
    return lines, said


def _refuse_offline(context: Features) -> None:
    """What the offline model quotes is not a proposal, and would be taken for one."""
    if any(model.current and model.provider == "offline" for model in context.session.models()):
        message = "The offline model is not a language model: it proposes nothing."
        raise Refusal("model_unavailable", message, "Set an API key, or the address of an endpoint (model.baseUrl).")


async def _begin(
    context: Features,
    text: str,
    attachments: Sequence[Enclosed],
    chat_id: str | None,
    state: EditorState | None,
) -> TurnTask:
    send = partial(context.session.chats.send, mode_once="ask", kind="inline", scope=SCOPE.get())
    return await send(chat_id, text, attachments=attachments, editor=state)


def _remember(context: Features, begun: BegunProposal) -> None:
    keep(context.proposals, (begun.turn.chat_id, begun.turn.turn_id), begun, REMEMBERED)


async def _offer(context: Features, known: BegunProposal) -> None:
    """Ask the user of an editor that shows no proposals by itself, and have it make the change."""
    result = await known.turn.result()
    lines, _ = _proposed(result, known)
    if lines is None or not context.client.edits:
        if not context.client.events:
            await show_end(context, known.turn, known.text)
        return
    shown = shown_path(context, known.uri)
    diff = difference("\n".join([*known.before, ""]), "\n".join([*lines, ""]), shown).text
    if lines == known.before or not diff:
        context.ui.message("info", f"codelaw: {shown} can stay as it is.")
        return
    first, last = known.first + 1, known.first + len(known.before)
    question = ApprovalQuestion(
        chat_id=result.chat_id,
        turn_id=result.turn_id,
        call_id=f"{result.turn_id}-proposal",
        tool="Edit",
        title=f"Edit {shown}:{first}" if first == last else f"Edit {shown}:{first}-{last}",
        risk="write",
        options=(ACCEPT, REJECT),
        diff=diff,
    )
    if (await context.approver.ask(question)).option_id != ACCEPT.id:
        return
    try:
        await _apply(context, known, lines)
    except ToolFailure as failure:
        context.ui.message("warning", f"codelaw: nothing was changed. {failure.message}")


async def _apply(context: Features, known: BegunProposal, lines: tuple[str, ...]) -> None:
    """Put the lines in the place of the old ones, wherever they stand by now.

    Raises:
        ToolFailure: CONFLICT: they are not there any more, or the editor refused.
    """
    buffer = context.documents.get(known.uri)
    splice = splice_of(buffer.text, known.before, known.first, lines) if buffer is not None else None
    if buffer is None or splice is None:
        raise ToolFailure("CONFLICT", "The lines have changed meanwhile: ask again.")
    label = shown_path(context, known.uri)
    await context.editor.apply(DocumentEdit(known.uri, buffer.version, buffer.text, (splice,), label))


def _lines(buffer: Buffer, first: int, last: int) -> tuple[str, ...]:
    starts = line_starts(buffer.text)
    return tuple(line_at(buffer.text, starts, line) for line in range(first, min(last + 1, len(starts))))


def last_block(answer: str) -> tuple[tuple[str, ...] | None, str]:
    """The lines of the last block of code of an answer, None without one, and what else it says.

    A block that is not closed is none: something of it may be missing.
    """
    lines = answer.replace("\r\n", "\n").split("\n")
    fences = Fences()
    begin: int | None = None
    found: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        before = fences.open
        fences.take(line)
        if before is None and fences.open is not None:
            begin = number
        elif before is not None and fences.open is None and begin is not None:
            found = (begin, number)
    if fences.open is not None or found is None:
        return None, answer.strip()
    first, last = found
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    block = tuple(_dedented(line, indent) for line in lines[first + 1 : last])
    return block, "\n".join([*lines[:first], *lines[last + 1 :]]).strip()


def splice_of(text: str, before: Sequence[str], first: int, lines: Sequence[str]) -> Splice | None:
    """What puts `lines` in the place of `before` in a document; None where that is not to be found, or twice.

    It is looked for at `first`, zero-based, and then everywhere. Lines end as the document's do.
    """
    starts = line_starts(text)
    every = [line_at(text, starts, line) for line in range(len(starts))]
    place = _place(every, list(before), first)
    if place is None:
        return None
    end = place + len(before)
    stop = starts[end - 1] + len(every[end - 1])
    if not lines:  # the old ones go with their breaks
        stop = starts[end] if end < len(starts) else len(text)
    return Splice(starts[place], stop, ("\r\n" if "\r\n" in text else "\n").join(lines))


def _place(lines: Sequence[str], before: list[str], first: int) -> int | None:
    count = len(before)
    if list(lines[first : first + count]) == before:
        return first
    if not any(line.strip() for line in before):
        return None
    places = [at for at in range(len(lines) - count + 1) if list(lines[at : at + count]) == before]
    return places[0] if len(places) == 1 else None


def _dedented(line: str, indent: int) -> str:
    """As Markdown reads a line of a block whose fence is indented: as many spaces as are there are taken away."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
