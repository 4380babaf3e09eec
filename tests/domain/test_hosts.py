"""Hosts by name: one spelling for each, and nothing that has to be guessed (S-4)."""

from __future__ import annotations

import ipaddress

import pytest

from codelaw.domain.safety.hosts import reach, read_host, read_rule
from codelaw.settings.effective import load_settings


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        *(("api.example.org", "api.example.org"), ("API.Example.ORG.", "api.example.org")),
        *((" a.example:8443 ", "a.example:8443"), ("*.Example.org", "*.example.org")),
        *(("*.example.org:22", "*.example.org:22"), ("bücher.example", "xn--bcher-kva.example")),
        *(("*.bücher.example:80", "*.xn--bcher-kva.example:80"), ("192.0.2.1", "192.0.2.1")),
        *(("192.0.2.1:8080", "192.0.2.1:8080"), ("127.0.0.1:8080", "127.0.0.1:8080")),
        *(("localhost:4873", "localhost:4873"), ("2001:DB8:0::1", "[2001:db8::1]")),
        *(("[2001:db8::1]", "[2001:db8::1]"), ("[2001:db8::1]:8443", "[2001:db8::1]:8443"), ("[::1]:9", "[::1]:9")),
        ("my_host", "my_host"),
    ],
)
def test_an_entry_has_one_spelling_and_reads_as_itself(entry: str, text: str) -> None:
    rule = read_rule(entry)
    assert rule.text == text
    assert read_rule(rule.text) == rule


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        *(("", "not the name of a host"), ("*", "set it to true"), ("*.", "not the name of a host")),
        *(("a.*.example", "not the name of a host"), ("*a.example", "not the name of a host")),
        *(("https://a.example", "without scheme"), ("a.example/path", "without scheme")),
        *(("user@a.example", "without scheme"), ("a b.example", "not the name of a host")),
        *(("a..example", "not the name of a host"), ("-a.example", "not the name of a host")),
        *(("a.example\r\nb", "not the name of a host"), ("a" * 64 + ".example", "not the name of a host")),
        *(("a." * 130 + "example", "not the name of a host"), ("a.example:", "1 to 65535")),
        *(("a.example:0", "1 to 65535"), ("a.example:65536", "1 to 65535"), ("a.example:8o", "1 to 65535")),
        *(("a.example:٣", "1 to 65535"), ("10.0.0.0/8", "without scheme"), ("*.10.0.0.1", "no subdomains")),
        *(("0x7f.1", "four decimal numbers"), ("2130706433", "four decimal numbers")),
        *(("127.1", "four decimal numbers"), ("0177.0.0.1", "four decimal numbers")),
        *(("1.2.3.4.5", "four decimal numbers"), ("[fe80::1%eth0]:80", "zone"), ("fe80::1%1", "zone")),
        *(("[::1", "not an IPv6 address"), ("localhost", "name the port"), ("localhost.", "name the port")),
        *(("x.localhost", "name the port"), ("*.localhost:80", "this machine itself"), ("127.0.0.1", "name the port")),
        *(("::1", "name the port"), ("::ffff:127.0.0.1", "name the port"), ("0.0.0.0", "name the port")),
        ("*.1", "four decimal numbers"),
    ],
)
def test_nonsense_is_refused_with_what_is_expected(entry: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read_rule(entry)


@pytest.mark.parametrize(
    ("entry", "host", "port", "allowed"),
    [
        *(("a.example", "a.example", 443, True), ("a.example", "a.example", 80, True)),
        *(("a.example", "a.example", 22, False), ("a.example", "x.a.example", 443, False)),
        *(("a.example:22", "a.example", 22, True), ("a.example:22", "a.example", 443, False)),
        *(("*.a.example", "x.a.example", 443, True), ("*.a.example", "x.y.a.example", 443, True)),
        *(("*.a.example", "a.example", 443, False), ("*.a.example", "evila.example", 443, False)),
        *(("192.0.2.1", "192.0.2.1", 443, True), ("[2001:db8::1]", "[2001:0db8::0:1]", 443, True)),
        ("127.0.0.1:80", "::ffff:127.0.0.1", 80, False),
    ],
)
def test_a_rule_allows_what_it_names(entry: str, host: str, port: int, allowed: bool) -> None:
    assert read_rule(entry).allows(read_host(host), port) is allowed


@pytest.mark.parametrize(
    "text", ["0x7f.1", "2130706433", "127.1", "0177.0.0.1", "a.0x1", "a.example.1", "[fe80::1%25x]"]
)
def test_an_address_in_disguise_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        read_host(text)


def test_a_trailing_dot_and_capitals_are_the_same_host() -> None:
    assert read_host("A.Example.") == "a.example"
    assert read_host("[::FFFF:1.2.3.4]") == ipaddress.IPv6Address("::ffff:102:304")


def test_a_sentence_names_the_hosts_and_no_more_than_some() -> None:
    assert reach(network=False) == "no network"
    assert reach(network=True) == "the network"
    assert reach(("a.example", "b.example:22")) == "of the network only a.example, b.example:22"
    assert reach(tuple(f"h{number}.example" for number in range(20))).endswith("h7.example and 12 more")


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("false", False),
        ("true", True),
        ("[]", False),
        ('["A.example.", "a.example", "b.example:22"]', ["a.example", "b.example:22"]),
    ],
)
def test_the_setting_takes_all_nothing_or_a_list(given: str, value: object) -> None:
    effective = load_settings(environ={"CODELAW_TOOLS__BASH__NETWORK": given})
    assert (effective.value.tools.bash.network, effective.problems) == (value, [])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("api.example.org", "a list of hosts such as"),
        ("1", "a list of hosts such as"),
        ("[1]", "a list of hosts such as"),
        ('["https://a.example"]', "without scheme, user or path"),
        ('["localhost"]', "name the port too, like localhost:8080"),
        (str([f"h{number}.example" for number in range(501)]).replace("'", '"'), "at most 500 hosts"),
    ],
)
def test_a_wrong_value_is_a_notice_and_nothing_is_opened(given: str, said: str) -> None:
    effective = load_settings(environ={"CODELAW_TOOLS__BASH__NETWORK": given})
    assert effective.value.tools.bash.network is False
    assert [notice.code for notice in effective.problems] == ["bad_setting"]
    assert said in effective.problems[0].message
