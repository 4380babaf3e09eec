"""What the terminal's trust leaves on record (S-3, S-8)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.permissions import AuditEntry

if TYPE_CHECKING:
    from codelaw.settings import Settings


async def record_trust(settings: Settings, home: Path, person: str, folder: Path, *, trusted: bool) -> None:
    """Put on record that a folder is trusted, or no longer is, where no server does it.

    Raises:
        Refusal: `store_unavailable`.
    """
    stores = await open_stores(settings.store.url, home / "codelaw.db")
    try:
        title = f"Trusted: {folder}" if trusted else f"No longer trusted: {folder}"
        decision = "trust" if trusted else "withdraw"
        entry = AuditEntry(
            at=time.time(),
            chat_id="",
            kind="trust",
            tool="",
            title=title,
            decision=decision,
            by="user",
            folder=str(folder),
            person=person,
        )
        await stores.chats.note([entry])
    finally:
        await stores.chats.close()
