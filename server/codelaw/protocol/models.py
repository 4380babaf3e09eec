"""`codelaw/model/list`."""

from __future__ import annotations

from codelaw.protocol.base import Params, Payload


class ListModels(Params):
    pass


class Model(Payload):
    """A model that can be chosen; sizes in tokens."""

    name: str
    context_window: int
    max_output: int
    provider: str
    current: bool


class ModelList(Payload):
    models: list[Model]
