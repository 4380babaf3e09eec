"""Names of files in which keys stand: where their shapes are redacted (S-5), and what is asked before reading (S-8)."""

from __future__ import annotations

import re

from codelaw.domain.safety.sensitive_files import folded

KEEPS_SECRETS = re.compile(
    r"(?:.*\.)?env(?:\..+)?|.*\.(?:pem|key|p12|pfx|ppk|jks)|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"
    r"|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)|credentials(?:\..+)?|secrets?\.\w+",
    re.IGNORECASE,
)
"""Names of files in which a key's shape is not a fixture of a test; source code may have such a name, too."""

_DATA = r"\.(?:json|ya?ml|toml|ini|cfg|conf|properties|xml|txt|csv|env)"
KINDS: dict[str, str] = {
    r"\.env(?:[._-].+)?|(?!(?:process|meta)\.)[\w-]+\.env": "an application takes its passwords and tokens from it",
    r"[^.].*\.(?:pem|key|p12|pfx|ppk|jks|keystore|kdbx)": "private keys are kept like that",
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?": "ssh signs in with it",
    r"[._]netrc|\.git-credentials": "git and curl sign in with it",
    r"\.npmrc|\.pypirc|\.yarnrc\.yml": "packages are fetched and published with its tokens",
    r"\.pgpass|\.my\.cnf|\.htpasswd": "databases and servers take passwords from it",
    rf"credentials(?:{_DATA})?|service[_-]?account.*\.json|\.boto|\.s3cfg": "services are used with it",
    rf"(?:[\w-]+[._-])?secrets?{_DATA}|\.vault[_-]pass(?:word)?": "it is named after what it holds",
    r".*\.tfvars(?:\.json)?|\.terraformrc": "machines are made with its passwords",
}
"""Each kind of names, and why such a file holds keys."""
_KINDS = re.compile("|".join(KINDS))
_SAMPLES = re.compile(r".*[._-](?:example|sample|template|tmpl|dist|defaults?|schema)(?:\..+)?")
"""What shows how such a file looks holds no key."""


def keeps_keys(path: str) -> bool:
    """Whether the file with this path is made to hold keys, by its name in any case."""
    name = folded(re.split(r"[/\\]", path)[-1])
    return _KINDS.fullmatch(name) is not None and _SAMPLES.fullmatch(name) is None
