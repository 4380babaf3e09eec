"""Pictures and texts on the wire (M-6)."""

from __future__ import annotations

import base64

import pytest

from tests.domain.pictures import png
from tests.lsp.raw import RawClient, RpcError


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


async def test_a_picture_and_a_text_reach_the_session(client: RawClient) -> None:
    image = {"kind": "image", "mediaType": "image/gif", "data": encoded(png(640, 480))}
    text = {"kind": "text", "title": "page", "text": "one"}
    await client.request("codelaw/chat/send", {"text": "look", "attachments": [image, text, {"uri": "file:///w/a.py"}]})
    given = next(
        event["event"]["message"]
        for event in client.params("codelaw/chat/event")
        if event["event"]["kind"] == "notice" and event["event"]["code"] == "given"
    )
    assert "Image(media_type='image/png', width=640, height=480" in given, "its bytes say what it is"
    assert "Snippet(title='page', text='one')" in given


async def test_a_message_to_a_running_turn_names_its_pictures_and_their_bytes_can_be_had(client: RawClient) -> None:
    chat = (await client.command("codelaw.chat.send", {"text": "wait"}))["chatId"]
    image = {"kind": "image", "data": encoded(png(640, 480))}
    await client.request("codelaw/chat/steer", {"chatId": chat, "text": "left", "attachments": [image]})
    (named,) = (await client.event("steer"))["event"]["images"]
    assert (named["mediaType"], named["width"], named["height"]) == ("image/png", 640, 480)
    asked = {"chatId": chat, "digest": named["digest"]}
    assert await client.request("codelaw/chat/picture", asked) == {
        "mediaType": "image/png",
        "data": encoded(named["digest"].encode()),
    }
    wrong = await client.error("codelaw/chat/picture", {"chatId": chat, "digest": "../x"})
    assert [error["path"] for error in wrong.data["errors"]] == ["digest"]


@pytest.mark.parametrize(
    ("data", "reported"),
    [
        ("not base64!", "its data is not base64"),
        ("ü" * 8, "its data is not base64"),
        (encoded(b"<svg/>"), "it is not a PNG, JPEG, GIF or WebP: save it as one of these"),
        (encoded(png(9000, 10)), "it is 9000×10 pixels"),
        (encoded(png(640, 480)[:20]), "its header (image/png) cannot be read"),
        (encoded(png(640, 480) + bytes(6 << 20)), "make it smaller"),
        ("A" * (45 << 20), "make it smaller"),
        ("", "it is not a PNG"),
    ],
    ids=["base64", "letters", "kind", "side", "torn", "large", "huge", "empty"],
)
async def test_what_is_no_picture_is_refused_with_what_to_do(client: RawClient, data: str, reported: str) -> None:
    with pytest.raises(RpcError) as refused:
        await client.request("codelaw/chat/send", {"text": "look", "attachments": [{"kind": "image", "data": data}]})
    assert refused.value.code == -32803
    assert refused.value.data["code"] == "invalid_attachment"
    assert reported in (refused.value.message or "")
    assert (await client.request("codelaw/chat/send", {"text": "hello"}))["answer"] == "you said hello"
