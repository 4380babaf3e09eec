"""Commands in the sandbox that reach listed hosts, and what they try to reach others (S-4)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.sandbox import PORT, Sandbox, SandboxMeans
from codelaw.domain.files import ProcessResult
from tests.adapters.processes.conftest import Fenced
from tests.adapters.processes.networks import Internet, answering, certificate, server_tls
from tests.attacks.world import World

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only"),
    pytest.mark.needs("bwrap"),
    pytest.mark.needs("curl"),
]


class Online:
    """Runs commands that reach the hosts of a list in a made-up internet."""

    def __init__(self, around: World, internet: Internet, sandbox: Sandbox, means: SandboxMeans) -> None:
        self.around, self.internet, self.sandbox, self.means = around, internet, sandbox, means

    async def __call__(self, command: str, *hosts: str, timeout: float = 60) -> ProcessResult:
        processes = LocalProcesses(
            self.around.environment, sandbox=self.sandbox, means=self.means, network=hosts or False
        )
        return await processes.run(command, cwd=self.around.ws, timeout=timeout)


@pytest.fixture
async def online(around: World, fenced: Fenced) -> Online:
    internet = Internet()
    return Online(around, internet, *await fenced(proxy=internet.proxy()))


async def test_a_plain_request_and_a_refusal(online: Online):
    async with online.internet.serving("api.example.org", 80, answering(b"from outside\n")):
        got = await online("curl -sS http://api.example.org/", "api.example.org")
        assert (got.exit_code, got.stdout, got.refused) == (0, "from outside\n", ()), got.stderr
        refused = await online(
            "curl -sS http://evil.example/; curl -sS https://evil.example/; curl -sS https://evil.example/",
            "api.example.org",
        )
    assert refused.stdout == "codelaw: evil.example:80 is not in tools.bash.network\n"
    assert refused.exit_code == 56
    assert refused.refused == (
        "evil.example:80: not in tools.bash.network",
        "evil.example:443: not in tools.bash.network",
    )


@pytest.mark.needs("openssl")
async def test_usual_programs_reach_a_listed_host_over_tls(online: Online, tmp_path: Path):
    """Their own certificates are checked, as nothing is opened on the way."""
    host, file = "files.example.org", certificate(tmp_path, "files.example.org")
    (online.around.ws / "ca.pem").write_bytes(file.read_bytes())
    read = f"import urllib.request as r; print(r.urlopen('https://{host}/').read().decode(), end='')"
    async with online.internet.serving(host, 443, answering(b"from outside\n"), server_tls(file)):
        for command in (f"curl -sS --cacert ca.pem https://{host}/", f'SSL_CERT_FILE=ca.pem python3 -c "{read}"'):
            got = await online(command, host)
            assert (got.exit_code, got.stdout, got.refused) == (0, "from outside\n", ()), (command, got.stderr)
        other = await online(f"curl -sS -k --connect-to evil.example:443:{host}:443 https://evil.example/", host)
        assert other.exit_code != 0
        assert other.refused == (f"{host}:443: TLS asks for 'evil.example'",)


async def test_nothing_of_ours_runs_beside_the_command(online: Online):
    """What is not there can be neither killed nor traced."""
    got = await online(
        "readlink /proc/[0-9]*/exe | grep python; ls -l /proc/self/fd | grep socket; cat /proc/net/tcp; exit 7",
        "a.example",
    )
    listening = [line.split()[1] for line in got.stdout.splitlines() if line.split()[3:4] == ["0A"]]
    assert (got.exit_code, listening) == (7, [f"0100007F:{PORT:04X}"])
    assert "python" not in got.stdout
    assert "socket:[" not in got.stdout


@pytest.mark.parametrize(
    "command", ["exit 7", "kill -9 $$", "kill -TERM $$", "yes | head -1; echo ${PIPESTATUS[0]}", "cat", "tty"]
)
async def test_a_command_ends_as_it_would_without(online: Online, command: str):
    by_name, without = await online(command, "a.example"), await online(command)
    assert (by_name.exit_code, by_name.stdout, by_name.stderr) == (without.exit_code, without.stdout, without.stderr)


async def test_only_the_variables_for_the_proxy_are_added(online: Online):
    online.around.environment.update({"HTTPS_PROXY": "http://10.0.0.1:3128", "no_proxy": "evil.example", "LC_ALL": ""})
    by_name, without = await online("env -u _", "localhost:8080"), await online("env -u _")
    there, here = ({*one.stdout.splitlines()} for one in (by_name, without))
    added = {line.partition("=")[0] for line in there - here if not line.startswith("CODELAW_CALL")}
    names = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    more = {"NODE_USE_ENV_PROXY", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY", "JAVA_TOOL_OPTIONS"}
    assert added == {*names, *map(str.lower, names), *more}
    assert {f"HTTPS_PROXY=http://127.0.0.1:{PORT}", "no_proxy=127.0.0.1,::1"} <= there


async def test_a_server_inside_the_sandbox_is_reached_there(online: Online):
    command = (
        "python3 -m http.server -b 127.0.0.1 8123 >log 2>&1 & for i in $(seq 100); do"
        " curl -sS http://localhost:8123/a.txt 2>/dev/null && exit 0; sleep 0.1; done; exit 1"
    )
    got = await online(command, "a.example")
    assert (got.exit_code, got.stdout, got.refused) == (0, "a\n", ())


async def test_landlock_alone_reaches_no_host_and_says_so(around: World, fenced: Fenced):
    sandbox, means = await fenced("landlock")
    port = around.tcp.getsockname()[1]
    processes = LocalProcesses(around.environment, sandbox=sandbox, means=means, network=(f"127.0.0.1:{port}",))
    assert not processes.keeps_to_hosts
    assert "no network, as only bubblewrap can allow the hosts of tools.bash.network" in processes.describe
    got = await processes.run(f"curl -sS -m 5 http://127.0.0.1:{port}/", cwd=around.ws, timeout=150)
    assert got.exit_code != 0
    assert around.breaches(got) == []


def test_without_a_sandbox_the_list_holds_nobody_and_that_is_said():
    processes = LocalProcesses(dict(os.environ), network=("a.example",))
    assert not processes.keeps_to_hosts
    assert processes.describe.endswith("; they reach every host, not only those of tools.bash.network.")
    assert LocalProcesses(dict(os.environ), network=True).keeps_to_hosts
