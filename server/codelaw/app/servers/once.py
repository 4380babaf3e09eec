"""What the user has let start once, in this process: servers for which there is no full sandbox (X-3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.served import Program

if TYPE_CHECKING:
    from codelaw.domain.served import ServerSpec
    from codelaw.settings.servers.written import WrittenServer


class OnceAnswers:
    """Each answer has a number, and is good for one start of the server as it was shown."""

    def __init__(self) -> None:
        self._last = 0
        self._known: dict[str, tuple[str, int]] = {}
        """By a server's key the digest of what was shown, and the number of the answer."""

    def give(self, server: WrittenServer, *, starts: bool) -> None:
        """The user lets it start, as it is; `starts` says whether this process starts servers.

        Raises:
            Refusal: `not_trusted`: it does not, so that the answer would be good for nothing.
        """
        if not starts:
            message = f"{server.name} is asked about at each start, as there is no full sandbox for it."
            raise Refusal("not_trusted", message, "Let it start in the editor that is to start it.")
        self._last += 1
        self._known[server.key] = server.digest, self._last

    def number(self, server: WrittenServer) -> int:
        """Which answer lets it start as it is; 0: none does."""
        digest, number = self._known.get(server.key, ("", 0))
        return number if digest == server.digest else 0

    def use_up(self, server: WrittenServer) -> bool:
        """Count no answer for it any more; whether there was one."""
        return self._known.pop(server.key, None) is not None

    def begin(self, before: Iterable[ServerSpec], now: Iterable[ServerSpec]) -> None:
        """Other servers run `now`: the answers for those that are not to run any longer are used up."""
        ended = _numbers(before) - _numbers(now)
        self._known = {key: answer for key, answer in self._known.items() if answer[1] not in ended}


def _numbers(specs: Iterable[ServerSpec]) -> set[int]:
    return {spec.way.answer for spec in specs if isinstance(spec.way, Program)}
