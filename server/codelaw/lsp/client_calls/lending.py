"""The models of the editor, asked through the client by `codelaw/editor/model` (P-7)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, cast

from pydantic import ValidationError

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
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.ports.lending import LentOffer, NotLent, Part
from codelaw.protocol import lending as wire
from codelaw.protocol.names import EDITOR_MODEL, EDITOR_MODELS

log = logging.getLogger(__name__)

LIST_SECONDS = 10.0


class ClientLender:
    """Implements `Lender` over one connection."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc

    async def offers(self) -> Sequence[LentOffer]:
        """See `Lender.offers`; one that is named twice counts once."""
        try:
            async with asyncio.timeout(LIST_SECONDS):
                answer = wire.LentModels.model_validate(await self._rpc.request(EDITOR_MODELS, {}))
        except ClientError as error:
            raise _not_lent(error) from None
        except TimeoutError:
            raise NotLent("", f"The editor did not answer within {LIST_SECONDS:g} s.") from None
        except ValidationError as invalid:
            raise NotLent("", f"The editor's answer makes no sense: {invalid.errors()[0]['msg']}.") from None
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
