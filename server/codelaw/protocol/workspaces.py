"""`codelaw/workspace/*`: whether the user trusts a folder's own settings (S-3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codelaw.protocol.base import Params, Payload


class TrustFolder(Params):
    """`folder` is the uri or the absolute path of one of the workspace's folders."""

    folder: Annotated[str, Field(min_length=1, max_length=8192)]
    trusted: bool


class Trust(Payload):
    trusted: bool


class EditorTrust(Params):
    """Whether the editor itself trusts the folder (its restricted mode), where that has changed (S-7)."""

    trusted: bool
