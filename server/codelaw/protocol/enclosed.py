"""What goes along with a message: documents, pictures, texts, what the user looks at, and numbers (M-6, L-3, B-1)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Discriminator, Field, Tag

from codelaw.protocol.base import Params

Index = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Position(Params):
    """A place in a document, in the position encoding agreed on at `initialize`; zero-based."""

    line: Index
    character: Index


class Range(Params):
    """From `start` up to, but not including, `end`."""

    start: Position
    end: Position


class AttachmentParams(Params):
    """A document, or with `range` a part of it, sent along with a message (M-6)."""

    uri: Annotated[str, Field(min_length=1, max_length=8192)]
    range: Range | None = None


class ImageParams(Params):
    """A picture, its bytes in base64; what it is they say themselves, whatever `mediaType` is (M-6)."""

    kind: Literal["image"]
    data: str
    media_type: Annotated[str, Field(max_length=200)] | None = None


class TextParams(Params):
    """A text that is not a document, as a terminal's output or a page that was pasted (M-6)."""

    kind: Literal["text"]
    title: Annotated[str, Field(min_length=1, max_length=1000)]
    text: Annotated[str, Field(min_length=1)]


def _attached(value: Any) -> str:
    """Which of the shapes is meant; a tag with a `#` stands in no path of an error."""
    kind: Any = cast("dict[str, Any]", value).get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return "#document" if kind is None else f"#{kind}"


Enclosure = Annotated[
    Annotated[AttachmentParams, Tag("#document")]
    | Annotated[ImageParams, Tag("#image")]
    | Annotated[TextParams, Tag("#text")],
    Discriminator(_attached),
]


class EditorParams(Params):
    """What the user looks at in the editor; `line` is the older form of `cursor`, which wins (L-3)."""

    uri: Annotated[str, Field(min_length=1, max_length=8192)]
    line: Index | None = None
    version: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    cursor: Position | None = None
    selection: Range | None = None
    visible: Range | None = None


class StrategyOptions(Params):
    """Numbers of a strategy for one request: settings of `context` and `retrieval`, by their own names (B-1)."""

    threshold: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None
    keep_rounds: Annotated[int, Field(ge=1)] | None = None
    min_messages: Annotated[int, Field(ge=0)] | None = None
    low_water: Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)] | None = None
    max_window: Annotated[int, Field(ge=1)] | None = None
    summary_timeout_seconds: Annotated[float, Field(ge=1, allow_inf_nan=False)] | None = None
    total_budget: Annotated[int, Field(ge=1)] | None = None
    index_tokens: Annotated[int, Field(ge=0)] | None = None
    recent_min: Annotated[int, Field(ge=0)] | None = None
    recent_max: Annotated[int, Field(ge=1)] | None = None
    summarise_above: Annotated[int, Field(ge=0)] | None = None
    window: Annotated[int, Field(ge=1)] | None = None
    top_k: Annotated[int, Field(ge=1, le=100)] | None = None
    radius: Annotated[int, Field(ge=0, le=50)] | None = None
    share: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    min_similarity: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] | None = None


def _given(options: StrategyOptions) -> dict[str, float]:
    return options.model_dump(exclude_none=True)


GivenOptions = Annotated[StrategyOptions, AfterValidator(_given)]
"""Once it is read: the numbers that were given, by the names of settings in Python."""
