"""One attack: a row of the table."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tests.attacks.world import World

Means = Literal["bubblewrap", "landlock", "none", "tools", "policy", "programs", "listener", "endpoint"]
"""What has to hold it: the sandbox by its means or none, our file tools, the judgement before a command runs, what
codelaw starts by itself, its own sockets, and what reads a model's endpoint."""
FENCES: tuple[Means, ...] = ("bubblewrap", "landlock", "none")
Aim = Literal["out", "hidden", "obeyed", "unasked", "started", "server", "exhaust"]
"""To change or reach something outside; to read what is hidden; to write what other programs obey; to run without a
question; to be run by codelaw itself; to take over or mislead the server; to use up the machine."""
Action = Callable[["World"], Awaitable[list[str]]]
"""Does the attack; gives back what it reached, in words: nothing where it was held."""

BARE = (
    "Without a sandbox a command that you allow does whatever you may do: it writes and reads everything that is yours,"
    " reaches the network and lives on after its call."
)
"""The sentence of docs/safety.md for what gets through where there is no fence at all."""
UNSAFE = "unsafe"
"""Never tried without a fence, because it would harm the machine that tests."""


class NotRun(Exception):
    """Something that the attack needs is missing here: it proves nothing."""


@dataclass(frozen=True, slots=True)
class Attack:
    """A row: a name, what it does, where it starts from, what holds it, and what is expected."""

    name: str
    aim: Aim
    does: str | Action
    """A command line, with words of `World.words` in braces; or a function where a command cannot say it."""
    says: str = ""
    """What it does, where that is a function."""
    start: str = "a repository"
    """A state of the workspace: a key of `starts.STARTS`."""
    means: tuple[Means, ...] = FENCES
    bare: str = BARE
    """What is expected without a fence: the sentence about it, `` where it fails by itself, or `UNSAFE`."""
    known: str = ""
    """The sentence of docs/safety.md for what gets through landlock after an approval; `` where it is held."""
    network: Any = False
    """`tools.bash.network`: false, true or hosts."""
    meanwhile: str = ""
    """The sentence of docs/safety.md for what is there while a command runs, in whatever sandbox."""
    needs: tuple[str, ...] = ()
    """Programs of which one has to be there."""
    seconds: float = 20
    git: bool = False
    """Whether the user runs git afterwards, as an editor does all the time."""
    marks: str = ""
    """A word that the command says when it has reached something, where that leaves no other trace."""
    settings: dict[str, object] = field(default_factory=dict)
    """For the world: `deny` rules, and paths that commands may not read or write."""

    def text(self) -> str:
        """What it does, to be read."""
        return self.does if isinstance(self.does, str) else self.says

    def sentence(self, means: Means) -> str:
        """The sentence of docs/safety.md where it is known to get through, else nothing."""
        if self.meanwhile:
            return self.meanwhile
        if means == "landlock":
            return self.known
        return self.bare if means == "none" else ""


def commands(
    aim: Aim,
    lines: Mapping[str, str],
    *,
    fails: Collection[str] = (),
    unsafe: Collection[str] = (),
    needs: Mapping[str, tuple[str, ...]] | None = None,
    known: Mapping[str, str] | None = None,
    **more: Any,
) -> tuple[Attack, ...]:
    """Rows for command lines. `fails` of them fail without a fence, too; `unsafe` ones are not tried without one."""
    assert {*fails, *unsafe, *(needs or {}), *(known or {})} <= {*lines}
    made: list[Attack] = []
    for name, line in lines.items():
        bare = UNSAFE if name in unsafe else "" if name in fails else BARE
        row = Attack(name, aim, line, bare=bare, **more)
        made.append(replace(row, needs=(needs or {}).get(name, ()), known=(known or {}).get(name, "")))
    return tuple(made)
