"""Nothing secret stands in what an endpoint says of a request (S-5)."""

from __future__ import annotations

import base64

import pytest

from codelaw.adapters.models.endpoints import secrets_of
from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

KEY = "sk-test-51f0c3-a77d"
CARRIED = base64.b64encode(b"me:hunter@2").decode()


@pytest.mark.parametrize(
    ("said", "reported"),
    [
        (f"bad {KEY}.", "bad [key]."),
        (f"bad {KEY[:-1]}… key", "bad [key]… key"),
        (f"bad Basic {CARRIED}, hunter@2, hunter%402", "bad Basic [key], [key], [key]"),
        ("bad sk-test key", "bad sk-test key"),
    ],
)
async def test_neither_key_nor_password_is_told(said: str, reported: str) -> None:
    async with LoopbackVendor() as vendor:
        vendor.script = [VendorReply(status=401, error_type="authentication_error", error_message=said)]
        model = MessagesModel(KEY, vendor.url.replace("://", "://me:hunter%402@"))
        try:
            with pytest.raises(ModelFailure) as raised:
                await model.reply(ModelRequest("m", (), (ApiMessage("user", (TextBlock("a"),)),), 16), lambda _: None)
        finally:
            await model.close()
    assert reported in raised.value.message


def test_an_address_holds_secrets_in_its_password_and_its_query() -> None:
    assert secrets_of("https://host/v1?version=2") == ()
    assert secrets_of("https://host/?t=of-the%2Fquery&v=1") == ("of-the%2Fquery", "of-the/query")
    assert secrets_of("https://me:hunter%402@host") == (CARRIED, "hunter@2", "hunter%402")
    assert secrets_of("https://me:abc@host") == (base64.b64encode(b"me:abc").decode(),)
    assert secrets_of("https://[half") == ()
