"""What an editor's other language servers know of the code (E-6)."""

from __future__ import annotations

from typing import Protocol


class LanguageServices(Protocol):
    """Services of the editor, each there only when the client declares it."""

    @property
    def offered(self) -> frozenset[str]:
        """Of `diagnostics`, `definition`, `references`, `rename`, `quickFix`."""
        ...
