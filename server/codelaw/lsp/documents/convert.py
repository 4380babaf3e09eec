"""Domain values ↔ wire types."""

from __future__ import annotations

import base64

from codelaw.domain import requests
from codelaw.domain.errors import Refusal
from codelaw.domain.media import images
from codelaw.lsp.documents.documents import EditorDocuments
from codelaw.lsp.documents.positions import code_points, line_at, line_starts
from codelaw.protocol.enclosed import EditorParams, Enclosure, ImageParams, Position, Range, StrategyOptions, TextParams

ENCODED_BYTES = images.MOST_BYTES * 4 // 3 + 4


def attachment(value: Enclosure, documents: EditorDocuments) -> requests.Enclosed:
    """An attachment, its range in code points; a picture is decoded, which takes a moment.

    Raises:
        Refusal: `invalid_attachment`: it is not a picture, or too large.
    """
    if isinstance(value, TextParams):
        return requests.Snippet(value.title, value.text)
    if isinstance(value, ImageParams):
        return _picture(value.data)
    if value.range is None:
        return requests.Attachment(value.uri)
    return requests.Attachment(value.uri, _line_range(value.uri, value.range, documents))


def _picture(data: str) -> images.Picture:
    problem = f"it is over {images.MOST_BYTES} bytes: make it smaller."
    if len(data) <= ENCODED_BYTES:
        try:
            content = base64.b64decode(data, validate=True)
            return images.Picture(images.image_of(content), content)
        except images.NoImage as error:
            problem = str(error)
        except ValueError:
            problem = "its data is not base64."
    message = f"A picture was not taken: {problem}"
    raise Refusal("invalid_attachment", message, "Send the message without it, or with another one.")


def editor_state(value: EditorParams | None, documents: EditorDocuments) -> requests.EditorState | None:
    """What the user looks at; an empty selection is none."""
    if value is None:
        return None
    chosen, visible = value.selection, value.visible
    return requests.EditorState(
        value.uri,
        value.cursor.line if value.cursor is not None else value.line,
        _line_range(value.uri, chosen, documents) if chosen is not None and chosen.start != chosen.end else None,
        (visible.start.line, visible.end.line) if visible is not None else None,
        value.version,
    )


def _line_range(uri: str, value: Range, documents: EditorDocuments) -> requests.LineRange:
    """A range in code points.

    A document that is not open keeps its range as sent: its text is not known here, and no editor has a selection in
    a document that it has not opened.
    """
    buffer = documents.get(uri)
    text = buffer.text if buffer is not None else None
    starts = line_starts(text) if text is not None else []

    def character(place: Position) -> int:
        if text is None:
            return place.character
        return code_points(line_at(text, starts, place.line), place.character, documents.encoding)

    return requests.LineRange(value.start.line, character(value.start), value.end.line, character(value.end))


def strategy_options(value: StrategyOptions | None) -> dict[str, float]:
    """The numbers that were given, by the names of settings in Python."""
    return {} if value is None else value.model_dump(exclude_none=True)
