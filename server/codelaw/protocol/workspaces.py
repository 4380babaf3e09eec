"""`codelaw/workspace/*`: whether the user trusts a folder's own settings (S-3)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codelaw.protocol.base import Params, Payload


class TrustFolder(Params):
    """`folder` is the uri or the absolute path of one of the workspace's folders."""

    folder: Annotated[str, Field(min_length=1, max_length=8192)]
    trusted: bool
    digest: Annotated[str, Field(max_length=200)] | None = None
    """Of the settings file whose values the user was shown; without it, or when the file says something else by now,
    trust is refused."""


class ReadWorkspaceSettings(Params):
    pass


class WorkspaceFile(Payload):
    """A folder's own settings file: its digest, and what in it counts only when the folder is trusted.

    `values` are JSON by dotted key, secrets masked, characters that are not seen as their codes.
    """

    folder: str
    path: str
    file: str
    digest: str
    trusted: bool
    values: dict[str, str]


class WorkspaceSettings(Payload):
    files: list[WorkspaceFile]


class Trust(Payload):
    trusted: bool


class EditorTrust(Params):
    """Whether the editor itself trusts the folder (its restricted mode), where that has changed (S-7)."""

    trusted: bool
