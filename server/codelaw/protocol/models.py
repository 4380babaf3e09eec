"""`codelaw/model/list` and `codelaw/settings/read`: what can be chosen, and what is set."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from codelaw.domain import models, reports
from codelaw.protocol.base import OrNone, Params, Payload
from codelaw.protocol.chats import NoticePayload


class ListModels(Params):
    """With `discover` endpoints and servers on this machine are asked what they have, which may take seconds.

    What they have said stays in the list.
    """

    discover: bool = False


class ModelChanged(Payload):
    """Other models than before may be asked: `model/list` and what is shown of chats are to be read again."""


class PriceStepPayload(Payload, copies=models.PriceStep):
    """Above so many tokens of a request, `input` and `output` cost so many times as much."""


class Model(Payload, copies=reports.ModelInfo, without="prices", maybe="effort retired"):
    """A model that can be chosen; sizes in tokens. Without `vision` nobody knows whether it sees pictures.

    `effort` are those that it takes, prices US dollars for a million tokens, `retired` the day on which its maker ends
    it. `largestWindow` is what it has where `contextWindow` is less, and can be raised to that.
    """

    price_in: float | None = None
    price_out: float | None = None
    price_read: float | None = None
    price_steps: OrNone[list[PriceStepPayload]] = None

    @model_validator(mode="before")
    @classmethod
    def _of_info(cls, value: Any) -> Any:
        if not isinstance(value, reports.ModelInfo) or value.prices is None:
            return value
        prices = {"price_in": value.prices.input, "price_out": value.prices.output}
        return cls.facts(value) | prices | {"price_read": value.prices.cache_read, "price_steps": value.prices.steps}


class ModelList(Payload):
    """`problems` are sentences about lists that are cut or did not come."""

    models: list[Model]
    problems: list[str] | None = None


class ReadSettings(Params):
    pass


class Setting(Payload):
    """An effective value, keys masked; `source` is the file or variable it came from."""

    value: Any = ...
    origin: Literal["default", "user", "workspace", "environment", "client", "commandLine"]
    source: str | None = None


class SettingsFault(Payload):
    """What is wrong where it is decided what may be done; of a file its uri, and the line from 1 where it is known."""

    message: str
    uri: str | None = None
    line: int | None = None


class SettingsReport(Payload):
    """Every setting by its dotted key, and what was wrong with what was read.

    `faults` are those of the problems that let no turn begin, or for which what was read before stays in force (S-1).
    """

    settings: dict[str, Setting]
    problems: list[NoticePayload]
    faults: list[SettingsFault] | None = None
