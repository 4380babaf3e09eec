"""The settings of what makes vectors, `embedding` (B-5)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codelaw.settings.group import Count, Group, Name


class EmbeddingGroup(Group):
    """What makes the vectors by which messages and memories are found again."""

    provider: Literal["hashing", "local", "openai"] = Field(
        default="hashing",
        description="`hashing` needs nothing but codelaw, `local` runs a model of the folder `path`, `openai` asks an"
        " endpoint that speaks the OpenAI embeddings API; the texts of your chats go there.",
    )
    model: Name | None = Field(default=None, description="The embedding model's name; unset: the provider's default.")
    path: str | None = Field(default=None, description="The folder of the model that the provider `local` runs.")
    base_url: str | None = Field(
        default=None, repr=False, description="Address of the embeddings API; unset: OpenAI's own."
    )
    api_key: str | None = Field(default=None, repr=False, description="The embeddings API's key.")
    code: Literal["here", "any", "off"] = Field(
        default="here",
        description="Whether the code search uses a model too: `here` one that runs on this machine, `any` also an"
        " endpoint elsewhere, which the workspace's files are then sent to, `off` none.",
    )
    dimension: Count | None = Field(
        default=None, description="Numbers in a vector; unset: 512 for `hashing`, the model's own for `openai`."
    )
