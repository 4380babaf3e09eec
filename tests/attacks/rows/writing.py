"""Commands that write somewhere else (S-4)."""

from __future__ import annotations

from tests.attacks.row import FENCES, Attack, commands

WRITING = commands(
    "out",
    {
        "an absolute path": "echo x > {out}/victim",
        "dots": "echo x > ../out/victim",
        "dots through folders": "mkdir -p a/b; echo x > a/b/../../../out/victim",
        "a symlink to a folder": "ln -s {out} l; echo x > l/victim",
        "a symlink to a file": "ln -s {out}/victim l; echo x > l",
        "a chain of symlinks": "ln -s {out} l1; ln -s l1 l2; ln -s l2/victim l3; echo x > l3",
        "a new file": "echo x > {out}/new",
        "appending": "echo x >> {out}/victim",
        "truncating": "truncate -s 0 {out}/victim",
        "renaming it in": "mv {out}/victim here",
        "renaming one over it": "echo x > new; mv new {out}/victim",
        "a hard link that is written": "ln {out}/victim h && echo x > h",
        "deleting": "rm -rf {out}/victim {home}/.ssh",
        "changing the mode": "chmod 777 {out}/victim; chmod -R 777 {home}",
        "a heredoc": "cat > {out}/victim <<EOF\nx\nEOF",
        "a command substitution": "true $(echo x > {out}/victim)",
        "back quotes": "true `echo x > {out}/victim`",
        "a process substitution": "echo x > >(cat > {out}/victim); sleep 0.2",
        "eval": "eval 'ec''ho x > {out}/victim'",
        "base64 into a shell": "echo 'echo x > {out}/victim' | base64 | base64 -d | sh",
        "xargs": "echo {out}/victim | xargs -I@ sh -c 'echo x > @'",
        "awk": "awk 'BEGIN {{ print \"x\" > \"{out}/victim\" }}'",
        "python": "{python} -c 'open(\"{out}/victim\", \"w\").write(\"x\")'",
        "dd": "echo x | dd of={out}/victim status=none",
        "tee": "echo x | tee {out}/victim {home}/.bashrc",
        "an archive with dots": "{python} -c 'import tarfile,io; t=tarfile.open(\"t.tar\",\"w\"); i=tarfile.TarInfo(\"../out/victim\"); i.size=2; t.addfile(i, io.BytesIO(b\"x\\n\")); t.close()'; tar -xPf t.tar",
        "the root of the own process": "echo x > /proc/self/root{out}/victim",
        "the root of the first process": "echo x > /proc/1/root{out}/victim",
        "the root of another process": "echo x > /proc/{pid}/root{out}/victim",
        "the folder of another process": "echo x > /proc/{pid}/cwd/victim",
        "the file that another process has open": "echo x > /proc/{pid}/fd/3",
        "a file descriptor that was left open": "for n in 3 4 5 6 7 8 9 10 11 12; do (echo x >&$n) 2>/dev/null; done; ls -l /proc/self/fd",
        "the shell's start files": "echo '{out}/program' | tee -a {home}/.bashrc {home}/.profile {home}/.bash_profile",
        "a key that may log in": "mkdir -p {home}/.ssh; echo k > {home}/.ssh/authorized_keys",
        "autostart": "mkdir -p {home}/.config/autostart {home}/.config/systemd/user; echo x > {home}/.config/autostart/x.desktop; echo x > {home}/.config/systemd/user/x.service",
        "a tool of the user's replaced": "echo '{out}/program' > {home}/.cargo/bin/tool",
        "a crontab": "echo '* * * * * {out}/program' | crontab -; echo '* * * * * root {out}/program' > /etc/cron.d/codelaw-escape && echo x > {out}/pwned",
        "at": "echo {out}/program | at now",
        "a longer path than is allowed": "cd {out}; d=$(printf 'd%.0s' $(seq 200)); for n in $(seq 40); do mkdir -p $d; cd $d; done; echo x > new",
        "a name with a newline": "mkdir -p $'a\\n..'; echo x > $'a\\n/../../out/victim'; echo x > $'a\\n..'/../../out/victim",
    },
    fails=("a file descriptor that was left open", "the root of the first process"),
    unsafe=("a crontab", "at", "a longer path than is allowed"),
    needs={"a crontab": ("crontab",), "at": ("at",)},
)  # fmt: skip

OURSELVES: tuple[Attack, ...] = commands(
    "out",
    {
        "our own program, changed": "echo '# x' >> codelaw/__init__.py",
        "our own program, with one more module": "echo 'x' > codelaw/json.py; mkdir codelaw/logging",
        "our own program, renamed over": "echo x > n; mv n codelaw/__main__.py; rm -f n",
        "our own program, moved away": "mv codelaw old && mv old codelaw && touch codelaw/moved",
        "our own program, deleted": "rm -f codelaw/api.py codelaw/__main__.py",
        "our own program, by a hard link": "ln codelaw/__init__.py h && echo '# x' >> h; rm -f h",
        "the program that locks commands in, changed": "for f in codelaw/adapters/processes/*_child.py; do echo '# x' >> $f; done",
    },
    start="our own program",
    means=FENCES[:1],
)
