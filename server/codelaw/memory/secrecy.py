"""Secrets in a text, found by their shape, so that none is ever remembered (B-6, S-5).

What is found is named by its kind only: nobody repeats it. A false alarm costs a rewording, a miss costs a key, so that
the doubtful is taken for a secret, short of hashes that are called so, identifiers, paths and numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from math import log2

from codelaw.domain.safety.unseen import HIDDEN

_INVISIBLE = re.compile(f"[{HIDDEN}]")

_SHAPES: tuple[tuple[str, str], ...] = (
    ("a private key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|AGE-SECRET-KEY-1|BEGIN PGP PRIVATE"),
    ("a key of Anthropic or OpenAI", r"\bsk-[A-Za-z0-9_-]{12,}"),
    ("a key of AWS", r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b"),
    ("a token of GitHub", r"\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}"),
    ("a token of GitLab", r"\bgl[a-z]{2,6}-[A-Za-z0-9_-]{16,}"),
    ("a token of Slack", r"\bxox[a-z]-[A-Za-z0-9-]{8,}|\bxapp-[A-Za-z0-9-]{8,}|hooks\.slack\.com/services/\w+/\w+/\w+"),
    ("a key of Google", r"\bAIza[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{10,}|\bGOCSPX-[A-Za-z0-9_-]{10,}"),
    ("a key of Stripe", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{8,}|\bwhsec_[A-Za-z0-9]{8,}"),
    ("a token of a package registry", r"\bnpm_[A-Za-z0-9]{16,}|\bpypi-[A-Za-z0-9_-]{16,}|\brubygems_[a-f0-9]{16,}"),
    (
        "a token of a service",
        r"\b(?:hf_|dop_v1_|shp(?:at|ss|ca|pa)_|lin_api_|figd_|dapi|glsa_|nvapi-)[A-Za-z0-9_-]{16,}",
    ),
    ("a key of SendGrid or Mailgun", r"\bSG\.[A-Za-z0-9_-]{12,}\.[A-Za-z0-9_-]{12,}|\bkey-[a-f0-9]{24,}"),
    ("a key of Twilio", r"\b(?:SK|AC)[a-f0-9]{32}\b"),
    ("a token of a bot", r"\b\d{8,10}:[A-Za-z0-9_-]{32,}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}"),
    ("an authorization header", r"(?i:\b(?:bearer|basic)\s+)(?=\S*\d)[A-Za-z0-9._~+/=-]{12,}"),
    ("a connection string", r"(?i:\b(?:account|sharedaccess|shared_access)key)\s*=\s*\S{8,}"),
)
_KNOWN = tuple((kind, re.compile(shape)) for kind, shape in _SHAPES)
_IN_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,40}://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)
_IN_QUERY = re.compile(
    r"[?&](?:access_?token|auth|api_?key|key|token|sig|signature|secret|password|pwd)=([^&#\s]{6,})", re.IGNORECASE
)
_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?s?|passwort|kennwort|mot de passe|pwd?|secrets?|tokens?|api[ _-]?keys?"
    r"|access[ _-]?keys?|credentials?)"
)
_SIGN_AND_VALUE = (
    r"(\s*(?::=|=>|->|==?|:)\s*|\s+(?:is|was|lautet|ist)(?:\s+|\s*:\s*))"
    r"(\"[^\"]+\"|'[^']+'|`[^`]+`|<[^>]*>|[^\s,;]+)"
)
_ASSIGNED = re.compile(rf"(?<![A-Za-z]){_NAME}(?:[_-][A-Za-z0-9]+){{0,8}}[\"']?{_SIGN_AND_VALUE}", re.IGNORECASE)
_ASSIGNED_FAR = re.compile(
    rf"(?<![A-Za-z]){_NAME}(?:\s*\([^()]{{1,40}}\)|\s+(?:of|for|to|on|in|at|from|für|von|pour|de)"
    rf"(?:\s+[^\s:=,;]+){{1,3}}?){_SIGN_AND_VALUE}",
    re.IGNORECASE,
)
"""The password of something, for somebody."""
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user)[ =]?[\"']?[^\s:]+:(?=[^\s@]*\d)(?=[^\s@]*[^\s@\d\"'])([^\s@]+)")
_PLACEHOLDER = re.compile(
    r"<.*>|\$\{?\w+\}?|\$\(.*|\{\{.*|%\w+%|[*x.•_-]+|(?:your|my|some|example|changeme|redacted|hidden|placeholder).*"
    r"|(?:os\.)?(?:getenv|environ|env).*|process\.env.*|none|null|nil|true|false|empty|blank|required|optional|unset|n/a",
    re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9+/=_-]{20,}")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-f]+", re.IGNORECASE)
_CALLED_HASH = re.compile(
    r"\b(?:commits?|sha-?\d*|md5|hash|digest|revision|rev|checksum|blob|tree|merge)\W*\Z", re.IGNORECASE
)
_CARD = re.compile(r"(?<![\d.])(?:\d[ -]?){12,18}\d(?![\d.])")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PLAIN = re.compile(r"(?:[a-z]+|[0-9]+)(?:[-_/=+]+(?:[a-z]+|[0-9]+))*")
"""Words and numbers set apart: paths, names, versions."""


def secret(text: str) -> str | None:
    """What kind of secret a text holds, in words for people; None when it holds none."""
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    for kind, shape in _KNOWN:
        if shape.search(text):
            return kind
    if any(_meant(match[1]) for match in _IN_ADDRESS.finditer(text)):
        return "an address with a password in it"
    if any(_meant(match[1]) for match in _IN_QUERY.finditer(text)):
        return "an address with a token in it"
    if any(_assigned(match[1], match[2]) for match in _ASSIGNED.finditer(text)):
        return "a password or another secret"
    if any(
        _assigned(match[1], match[2]) and not match[2].strip(".").isdigit() for match in _ASSIGNED_FAR.finditer(text)
    ):
        return "a password or another secret"
    if any(_meant(match[1]) for match in _LOGIN.finditer(text)):
        return "a login with its password"
    if any(_is_card(match[0]) for match in _CARD.finditer(text)):
        return "the number of a payment card"
    if any(_is_random(match[0], text[: match.start()]) for match in _RUN.finditer(text)):
        return "a long random text such as keys are"
    return None


def _meant(value: str) -> bool:
    """It is a value, and no stand-in for one."""
    return _PLACEHOLDER.fullmatch(value.strip("\"'`.,;:)")) is None


def _assigned(sign: str, value: str) -> bool:
    """Whether what follows the name of a secret is one. After `=` anything is, in a sentence what is not a word."""
    quoted = value[:1] in "\"'`"
    bare = value.strip("\"'`.,;:()!?")
    if len(bare) < 4 or not _meant(bare):
        return False
    if "=" in sign or quoted:
        return True
    return not bare.isalpha() or (not bare.islower() and not bare.istitle() and not bare.isupper())


def _is_random(run: str, before: str) -> bool:
    """Whether a run of characters looks drawn by lot: many kinds in short pieces, and no known kind of id."""
    if _UUID.fullmatch(run) or run.isdigit() or _PLAIN.fullmatch(run):
        return False
    if _HEX.fullmatch(run):
        return len(run) >= 32 and _CALLED_HASH.search(before[-24:]) is None
    if not run.isalpha() and not any(map(str.isdigit, run)):
        return False
    pieces = _PIECE.findall(run)
    return len(pieces) > 0.3 * sum(map(len, pieces)) and _entropy(run) >= 3.5


def _entropy(run: str) -> float:
    """Bits per character."""
    return -sum(count / len(run) * log2(count / len(run)) for count in Counter(run).values())


def _is_card(number: str) -> bool:
    digits = [int(character) for character in number if character.isdigit()]
    if digits[0] not in (3, 4, 5, 6) or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
