"""`codelaw/editor/models`, `model`, `tools` and `tool`, from server to client: what the editor lends (P-7)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from codelaw.protocol.base import Payload, Reply

MAX_MODELS = 1_000
Id = Annotated[str, Field(min_length=1, max_length=400)]


class AskModels(Payload):
    """Which models would be lent now."""


class LentModelFacts(Reply):
    """A model; `maxInputTokens` is what may be sent to it."""

    id: Id
    name: Annotated[str, Field(max_length=400)] = ""
    family: Annotated[str, Field(max_length=400)] = ""
    max_input_tokens: Annotated[int, Field(ge=1, le=2**40)]


class LentModels(Reply):
    models: Annotated[list[LentModelFacts], Field(max_length=MAX_MODELS)]


class TextPart(Payload):
    kind: Literal["text"] = "text"
    text: str


class CallPart(Payload):
    kind: Literal["call"] = "call"
    call_id: str
    name: str
    input: dict[str, Any]


class ResultPart(Payload):
    """The result of a call of the message before."""

    kind: Literal["result"] = "result"
    call_id: str
    text: str
    is_error: bool = False


class LentMessage(Payload):
    role: Literal["user", "assistant"]
    parts: list[TextPart | CallPart | ResultPart]


class LentTool(Payload):
    name: str
    description: str
    input_schema: dict[str, Any]


class AskModel(Payload):
    """`model` is an id of `codelaw/editor/models`; the parts of the reply come as `$/progress` with the token."""

    model: str
    messages: list[LentMessage]
    tools: list[LentTool]
    partial_result_token: str | None = None


class LentPart(Reply):
    """A part of a reply: `text`, a call with its `callId`, `name` and `input`, or `other`, of which nothing is told."""

    kind: Literal["text", "call", "other"]
    text: str = ""
    call_id: Annotated[str, Field(max_length=1000)] = ""
    name: Annotated[str, Field(max_length=1000)] = ""
    input: Any = None


class ModelAnswer(Reply):
    """The end of a reply. An editor that is not told why it ended says `end_turn`."""

    stop: Literal["end_turn", "tool_use", "max_tokens", "refusal"] = "end_turn"


class NotLentData(Reply):
    """`data` of the error in place of an answer: the editor's own word for why."""

    code: Annotated[str, Field(max_length=200)] = ""


class AskTools(Payload):
    """Which tools would be lent now."""


class LentToolFacts(Reply):
    """A tool in the words of who brings it; `inputSchema` is the JSON Schema of an object."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] | None = None


class LentTools(Reply):
    """One that cannot be read is left out, and the others count."""

    tools: list[Any]


class AskTool(Payload):
    """`name` is one of `codelaw/editor/tools`."""

    name: str
    input: dict[str, Any]


class ToolPart(Reply):
    """A part of a result: `text`, an `image` as base64 in `data`, or `other`, of which only the kind is told."""

    kind: Literal["text", "image", "other"]
    text: str = ""
    media_type: str = ""
    data: str = ""


class ToolAnswer(Reply):
    """What a tool gave."""

    parts: list[ToolPart]
