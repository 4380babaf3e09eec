"""The table of requests: for each its params, its result, and the function that answers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from codelaw.protocol.base import Params, Payload

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

Answer = Callable[["Context", Any], Awaitable[object]]
"""Takes the params, and gives the result or what it copies."""
AnyAnswer = TypeVar("AnyAnswer", bound=Callable[..., Awaitable[object]])


@dataclass(frozen=True, slots=True)
class Route:
    """One request."""

    params: type[Params]
    result: type[Payload]
    answer: Callable[[Any, Any], Awaitable[object]]
    large: bool = False
    """Its result may be so large that it is made and spelt beside the event loop."""
    command: Answer | None = None
    """What its command does instead, where that differs: long ones only begin, and some show what they answer."""
    started: type[Payload] | None = None
    """What the command answers at once, where the work is long; None: the same as `result`."""


ROUTES: dict[str, Route] = {}
"""By name; filled by what `route` stands above."""


def route(
    name: str, params: type[Params], result: type[Payload], *, large: bool = False
) -> Callable[[AnyAnswer], AnyAnswer]:
    """The function below answers the method `name`."""

    def add(answer: AnyAnswer) -> AnyAnswer:
        ROUTES[name] = Route(params, result, answer, large=large)
        return answer

    return add


def as_command(name: str, started: type[Payload] | None = None) -> Callable[[AnyAnswer], AnyAnswer]:
    """The function below is what the method's command does."""

    def add(answer: AnyAnswer) -> AnyAnswer:
        ROUTES[name] = replace(ROUTES[name], command=answer, started=started)
        return answer

    return add
