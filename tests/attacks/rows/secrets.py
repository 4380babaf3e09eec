"""Commands that read what is hidden (S-4, S-5)."""

from __future__ import annotations

from tests.attacks.row import commands

SYSCALL = "import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True); "

SECRETS = commands(
    "hidden",
    {
        "a key by its path": "cat {home}/.ssh/id_ed25519",
        "a key by the tilde": "cat ~/.ssh/id_ed25519 ~/.aws/credentials",
        "everything in the home folder": "cat ~/.* ~/* ~/.*/* ~/.*/*/* ~/.*/*/*/*",
        "find": "find {home} -type f -exec cat {{}} +",
        "an archive of the home folder": "tar -cf home.tar {home}",
        "a link to a secret": "ln -s {home}/.ssh l; cat l/id_ed25519",
        "a hard link to a secret": "ln {home}/.ssh/id_ed25519 h && cat h",
        "a secret beside a tool": "cat {home}/.cargo/credentials.toml {home}/.m2/settings.xml {home}/.gradle/gradle.properties",
        "a secret by another process": "cat /proc/{pid}/root{home}/.ssh/id_ed25519; cat /proc/{pid}/cwd/../home/.netrc",
        "codelaw's own settings": "cat {own}/config.toml; cat {own}/*",
        "writing codelaw's own settings": "mkdir -p {own}; echo x > {own}/config.toml",
        "moving codelaw's own settings": "CODELAW_HOME={own}; mv $CODELAW_HOME {ws}/own; cat {ws}/own/config.toml",
        "the environment of another process": "cat /proc/{pid}/environ | tr '\\0' '\\n'",
        "the environment of every process": "cat /proc/[0-9]*/environ | tr '\\0' '\\n'; ps eww",
        "the memory of another process": "{python} -c '" + SYSCALL + "print(libc.ptrace(16, {pid}, 0, 0)); m = open(\"/proc/{pid}/mem\", \"rb\"); print([m.seek(int(l.split(\"-\")[0], 16)) and m.read(135168) for l in open(\"/proc/{pid}/maps\") if \"stack\" in l])'",
    },
)  # fmt: skip
