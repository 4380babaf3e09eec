"""Where a listed name may lead (S-4)."""

from __future__ import annotations

import ipaddress
import socket
import threading

import pytest

from codelaw.adapters.processes.network import addresses
from codelaw.adapters.processes.network.addresses import Shut, SystemResolver, dial, shut, usable

SHUT = {
    "this machine itself": "127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 ::1 :: ::ffff:127.0.0.1 ::ffff:0.0.0.0"
    " ::ffff:0:127.0.0.1 ::127.0.0.1 64:ff9b::127.0.0.1 2002:7f00:1:: 2001:0:7f00:1::",
    "link-local": "169.254.169.254 fe80::1 ::ffff:169.254.169.254 ::169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1",
    "cloud": "168.63.129.16 100.100.100.200 fd00:ec2::254",
    "multicast": "224.0.0.251 ff02::fb",
    "reserved": "255.255.255.255 240.0.0.1",
    "never used": "fec0::1 64:ff9b:1::1",
}
OPEN = ["192.0.2.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "8.8.8.8", "2001:db8::1", "fd12::1"]
OPEN += ["64:ff9b::808:808", "::ffff:10.0.0.1", "2002:808:808::1"]


@pytest.mark.parametrize("why", SHUT)
def test_no_name_leads_there(why: str) -> None:
    for address in map(ipaddress.ip_address, SHUT[why].split()):
        assert why in (shut(address) or ""), address
        assert usable("a.example", [address]) == ([], f"a.example leads to {address}, {shut(address)}")


def test_a_name_may_lead_there() -> None:
    for address in map(ipaddress.ip_address, OPEN):
        assert usable("a.example", [address]) == ([address], "")


def test_of_several_addresses_those_that_are_open_are_used() -> None:
    found = [ipaddress.ip_address(text) for text in ("127.0.0.1", "192.0.2.1", "169.254.1.1", "2001:db8::1")]
    assert usable("a.example", found)[0] == [found[1], found[3]]


def test_this_machine_is_reached_by_its_own_name_only() -> None:
    found = [ipaddress.ip_address("::1"), ipaddress.ip_address("192.0.2.1")]
    assert usable("localhost", found) == ([found[0]], "")
    literal = ipaddress.ip_address("127.0.0.1")
    assert usable(literal, []) == ([literal], "")


async def test_the_system_is_asked_and_says_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = SystemResolver()
    assert ipaddress.ip_address("127.0.0.1") in await resolver("localhost")
    with pytest.raises(OSError, match=r"\S"):
        await resolver("does-not-exist.invalid")


async def test_a_silent_name_server_holds_no_more_than_some_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(addresses, "_look_up", lambda name: go.wait(60) and [])
    monkeypatch.setattr(addresses, "RESOLVE_SECONDS", 0.01)
    resolver = SystemResolver()
    said = []
    for _ in range(12):
        with pytest.raises(OSError) as raised:
            await resolver("slow.example")
        said.append(str(raised.value))
    go.set()
    assert [("has not answered" in text, "too many" in text) for text in said] == [(True, False)] * 8 + [
        (False, True)
    ] * 4


async def test_an_address_of_this_machine_that_is_no_loopback_one_is_told_by_connecting() -> None:
    """Nothing is sent before that."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.77", 9))
        except OSError:
            pytest.skip("this machine has no network at all")
        own = ipaddress.ip_address(probe.getsockname()[0])
    if own.is_loopback:
        pytest.skip("this machine has no address but loopback ones")
    with socket.create_server((str(own), 0)) as server, pytest.raises(Shut, match=f"{own} is this machine itself"):
        await dial(own, server.getsockname()[1])
