"""What the editor lends, asked for through the client: its models, and the tools of its extensions (P-7)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast

from pydantic import ValidationError

from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import (
    ApiMessage,
    Block,
    BrokenCall,
    CallBlock,
    ResultBlock,
    StopReason,
    TextBlock,
    TextDelta,
    ToolSchema,
)
from codelaw.domain.served import EDITOR, ServedResult, ServedTool
from codelaw.lsp.transport.errors import REQUEST_CANCELLED, ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.ports.lending import LentOffer, NotLent, Part
from codelaw.protocol import lending as wire
from codelaw.protocol.base import Reply
from codelaw.protocol.names import EDITOR_MODEL, EDITOR_MODELS, EDITOR_TOOL, EDITOR_TOOLS
from codelaw.tools.served.limits import BLOCKS, NAME_CHARACTERS, TOOLS, ResultBuilder, fits

log = logging.getLogger(__name__)

LIST_SECONDS = 10.0
CANCELLED = "It was cancelled in the editor, by its user or by the tool."

R = TypeVar("R", bound=Reply)


class ClientLender:
    """Implements `Lender` over one connection."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc

    async def offers(self) -> Sequence[LentOffer]:
        """See `Lender.offers`; one that is named twice counts once."""
        answer = await _listed(self._rpc, EDITOR_MODELS, wire.LentModels)
        found = {one.id: LentOffer(one.id, one.name, one.family, one.max_input_tokens) for one in answer.models}
        return list(found.values())

    async def ask(
        self,
        model: str,
        messages: Sequence[ApiMessage],
        tools: Sequence[ToolSchema],
        heard: Callable[[Part], None],
    ) -> StopReason:
        """See `Lender.ask`."""
        params = {
            "model": model,
            "messages": [{"role": one.role, "parts": list(map(_part, one.blocks))} for one in messages],
            "tools": [
                {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools
            ],
        }
        try:
            answer = await self._rpc.request(EDITOR_MODEL, params, lambda value: heard(_heard(value)))
            return wire.ModelAnswer.model_validate(answer or {}).stop
        except ClientError as error:
            raise _not_lent(error) from None
        except ValidationError:
            log.warning("The end of a lent model's reply makes no sense; taken as its end")
            return "end_turn"


class ClientTools:
    """Implements `ToolLender` over one connection."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc

    async def tools(self) -> tuple[ServedTool, ...]:
        """See `ToolLender.tools`; of two with one name the first counts."""
        answer = await _listed(self._rpc, EDITOR_TOOLS, wire.LentTools)
        return await asyncio.to_thread(_served, answer.tools)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ServedResult:
        """See `ToolLender.call`."""
        try:
            answer = await self._rpc.request(EDITOR_TOOL, {"name": name, "input": dict(arguments)})
            return await asyncio.to_thread(_result, answer)
        except ClientError as error:
            refused = _not_lent(error)
            if refused.gone or refused.code == "NotFound":
                message = "The editor is gone." if refused.gone else "The editor does not lend this tool any more."
                raise ToolFailure("NOT_FOUND", message, uncertain=refused.gone) from None
            said = CANCELLED if error.code == REQUEST_CANCELLED else error.message
            return ServedResult(said, failed=True)
        except ValidationError:
            raise ToolFailure("EXECUTION_ERROR", "The editor's answer cannot be read.", uncertain=True) from None


async def _listed(rpc: Rpc, method: str, kind: type[R]) -> R:
    """The answer to a question for what is lent.

    Raises:
        NotLent: there is none.
    """
    try:
        async with asyncio.timeout(LIST_SECONDS):
            return kind.model_validate(await rpc.request(method, {}))
    except ClientError as error:
        raise _not_lent(error) from None
    except TimeoutError:
        raise NotLent("", f"The editor did not answer within {LIST_SECONDS:g} s.") from None
    except ValidationError as invalid:
        raise NotLent("", f"The editor's answer makes no sense: {invalid.errors()[0]['msg']}.") from None


def _served(listed: Sequence[Any]) -> tuple[ServedTool, ...]:
    """The tools of these that can be told to a model."""
    found: dict[str, ServedTool] = {}
    for one in listed[:TOOLS]:
        with suppress(ValidationError):
            tool = wire.LentToolFacts.model_validate(one)
            schema = tool.input_schema or {}
            if fits(tool.name, tool.description, schema):
                found.setdefault(tool.name, ServedTool(EDITOR, tool.name, tool.description, schema))
    if len(found) < len(listed):
        log.warning("Of the editor's tools %d are left out", len(listed) - len(found))
    return tuple(found[name] for name in sorted(found))


def _result(answer: Any) -> ServedResult:
    """What a tool gave, as far as there is room for it.

    Raises:
        ValidationError: it is no answer.
    """
    parts, made = wire.ToolAnswer.model_validate(answer).parts, ResultBuilder()
    for part in parts[:BLOCKS]:
        match part.kind:
            case "text":
                made.say(part.text)
            case "image":
                made.image(part.media_type, part.data)
            case "other":
                kind = part.media_type[:NAME_CHARACTERS] or "of no known kind"
                made.leave_out(f"A part that is no text ({kind}) is left out.")
    if len(parts) > BLOCKS:
        made.leave_out(f"All parts after the first {BLOCKS} are left out.")
    return made.result()


def _part(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text):
            return {"kind": "text", "text": text}
        case CallBlock(call):
            return {"kind": "call", "callId": call.id, "name": call.tool, "input": dict(call.arguments)}
        case ResultBlock(call_id, text, is_error):
            return {"kind": "result", "callId": call_id, "text": text, "isError": is_error}
        case _:
            message = f"{type(block).__name__} is not for a lent model"
            raise TypeError(message)


def _heard(value: Any) -> Part:
    """A part as the client sent it; what makes no sense is a sign of life, and no more."""
    try:
        part = wire.LentPart.model_validate(value)
    except ValidationError:
        log.warning("A part of a lent model's reply makes no sense")
        return TextDelta("")
    if part.kind != "call":
        return TextDelta(part.text if part.kind == "text" else "")
    given: Any = part.input
    if isinstance(given, dict):
        return Call(part.call_id, part.name, cast("dict[str, Any]", given))
    return BrokenCall(part.call_id, part.name, json.dumps(given))


def _not_lent(error: ClientError) -> NotLent:
    try:
        code = wire.NotLentData.model_validate(error.data or {}).code
    except ValidationError:
        code = ""
    return NotLent(code, error.message, gone=isinstance(error, Disconnected))
