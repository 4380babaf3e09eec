"""`codelaw/model/list`."""

from __future__ import annotations

from codelaw.protocol.base import Method, Params, Payload


class ListModels(Params):
    pass


class ModelChanged(Payload):
    """Other models than before may be asked: `model/list` and what is shown of chats are to be read again."""


class Model(Payload):
    """A model that can be chosen; sizes in tokens. Without `vision` nobody knows whether it sees pictures."""

    name: str
    context_window: int
    max_output: int
    provider: str
    current: bool
    vision: bool | None = None


class ModelList(Payload):
    models: list[Model]


METHODS = {
    "codelaw/model/list": Method(ListModels, ModelList),
}
