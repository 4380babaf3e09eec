"""Which embedder is in use: the settings may change it while a chat goes on (B-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codelaw.ports.embedder import Embedder


@dataclass(slots=True)
class EmbedderInUse:
    """The one of a session; who works with it looks again before each piece of work."""

    now: Embedder
