"""The story of `cargo xtask demo --cluster`: three hosts behind HAProxy, on a database with a synchronous
standby. One host is killed, one is drained and started again, the database fails over, and an agent of the
official Python client goes on working. Each claim is checked while it is told."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from harness import MODES, PATIENCE_SECONDS, STATELESS, CheckFailed, call, context, error_of, text_of

NOBODY = 65_534
REPOSITORY = Path(__file__).resolve().parents[2]
WHARF = os.environ["WHARF"]
TARGET = Path(os.environ["WHARF_TARGET"])
HOSTS = ("wharf-0", "wharf-1", "wharf-2")
# Todos of one thread, before the next one is begun.
OF_ONE_THREAD = 50


def chapter(title: str) -> None:
    print(f"\n== {title}\n", flush=True)


def prose(text: str) -> None:
    print(text, flush=True)


def shown(text: str) -> None:
    for line in text.strip().splitlines():
        print(f"    {line[:150]}", flush=True)


def check(holds: bool, what: str, found: Any = None) -> None:
    if not holds:
        raise CheckFailed(f"{what}: {found!r}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what: str, attempt: Any) -> Any:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = attempt()
        if found:
            return found
        if time.monotonic() > end:
            raise CheckFailed(f"waited for {PATIENCE_SECONDS} s in vain: {what}")
        time.sleep(0.05)


def libraries(root: Path) -> dict[str, str]:
    """Where programs that are unpacked below a folder find their libraries."""
    machine = f"{os.uname().machine}-linux-gnu"
    return {"LD_LIBRARY_PATH": f"{root}/usr/lib/{machine}:{root}/lib/{machine}"}


def program(name: str, folder: str) -> tuple[str, dict[str, str]]:
    """A program of the system's, or one that `cargo xtask` has unpacked, and its variables."""
    installed = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if installed:
        return installed, {}
    root = TARGET / folder
    return str(root / "usr/sbin" / name), libraries(root)


class Database:
    """A primary, and a standby that has each commit before the client hears of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        roots = [Path("/"), TARGET / "postgresql"]
        places = [place for root in roots for place in sorted(root.glob("usr/lib/postgresql/*/bin"))]
        places = [place for place in places if (place / "initdb").exists()]
        check(bool(places), "there is a PostgreSQL server", roots)
        self.programs, self.environment = places[0], dict(os.environ)
        if str(self.programs).startswith(str(TARGET)):
            self.environment.update(libraries(TARGET / "postgresql"))
        self.log = open(folder / "log", "ab")
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)

    def _command(self, name: str, *arguments: str) -> list[str]:
        command = [str(self.programs / name), *arguments]
        if os.geteuid() != 0:
            return command
        # PostgreSQL refuses to run as root.
        if all(parent.stat().st_mode & 1 for parent in self.programs.resolve().parents):
            return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--", *command]
        return ["unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--", *command]

    def run(self, name: str, *arguments: str) -> str:
        done = subprocess.run(
            self._command(name, *arguments), cwd="/", env=self.environment, stdout=subprocess.PIPE, stderr=self.log
        )
        check(done.returncode == 0, f"{name} succeeds", (done.returncode, (self.folder / "log").read_text()[-500:]))
        return done.stdout.decode()

    def socket(self, server: str) -> str:
        return str(self.folder / f"socket-{server}")

    def serve(self, server: str, settings: str) -> None:
        socket_folder = Path(self.socket(server))
        socket_folder.mkdir()
        if os.geteuid() == 0:
            os.chown(socket_folder, NOBODY, NOBODY)
        with open(self.folder / server / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{socket_folder}'\n{settings}\n")
        command = self._command("postgres", "-D", str(self.folder / server))
        self.running[server] = subprocess.Popen(
            command, cwd="/", env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )

    def ask(self, server: str, query: str) -> str:
        command = self._command("psql", "-h", self.socket(server), "-U", "postgres", "-AtXc", query)
        asked = subprocess.run(command, cwd="/", env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return asked.stdout.decode().strip()

    def start(self) -> None:
        made = ("--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D", str(self.folder / "a"))
        self.run("initdb", *made)
        self.serve("a", "synchronous_standby_names = 'standby'")
        until("the primary serves", lambda: self.ask("a", "SET synchronous_commit = local; SELECT 1"))
        source = f"host={self.socket('a')} user=postgres application_name=standby"
        self.run("pg_basebackup", "-d", source, "-D", str(self.folder / "b"), "-R", "--checkpoint=fast")
        # As a primary it has no standby of its own.
        self.serve("b", "synchronous_standby_names = ''")
        until("the standby has all", lambda: self.ask("a", "SELECT sync_state FROM pg_stat_replication") == "sync")

    def connection(self) -> str:
        return (
            f"host={self.socket('a')},{self.socket('b')} port=5432,5432 user=postgres dbname=postgres "
            "target_session_attrs=read-write"
        )

    def fail_over(self) -> None:
        """Ends the primary without a word, which is the fence, and makes the standby the primary."""
        primary = int((self.folder / "a" / "postmaster.pid").read_text().split()[0])
        os.kill(primary, signal.SIGKILL)
        self.running["a"].wait()
        self.run("pg_ctl", "promote", "-D", str(self.folder / "b"))

    def stop(self) -> None:
        for server in self.running.values():
            server.send_signal(signal.SIGINT)
        for server in self.running.values():
            server.wait()


class Hosts:
    """Three hosts and the balancer in front of them."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.folder, self.running = folder, {}
        self.log = open(folder / "hosts.log", "ab")
        secrets = folder / "secrets"
        script = REPOSITORY / "deploy" / "compose" / "make-secrets"
        made = subprocess.run([script, str(secrets), "localhost"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(made.returncode == 0, "the secrets are made", made.stdout)
        (secrets / "database").write_text(database.connection(), encoding="utf-8")
        for secret in secrets.iterdir():
            secret.chmod(0o600)
        self.token = (secrets / "token").read_text(encoding="utf-8").strip()
        self.ports = {name: free_port() for name in HOSTS}
        for name in HOSTS:
            (folder / name).mkdir()
            (folder / f"{name}.toml").write_text(
                "profile = \"developer\"\n[plugin.browser]\nenabled = false\n"
                f"[state]\ndatabase_file = \"{secrets}/database\"\n"
                f"[cluster]\nname = \"demo\"\nhost = \"{name}\"\naddress = \"localhost:{free_port()}\"\n"
                f"secret_files = [\"{secrets}/cluster\"]\ndrain_seconds = 5\n"
                f"[cluster.tls]\ncertificate = \"{secrets}/localhost.pem\"\nkey = \"{secrets}/localhost.key\"\n"
                f"authority = \"{secrets}/authority.pem\"\n",
                encoding="utf-8",
            )

    def options(self, name: str) -> list[str]:
        return ["--config", str(self.folder / f"{name}.toml"), "--data", str(self.folder / name)]

    def start(self, name: str) -> None:
        address = f"127.0.0.1:{self.ports[name]}"
        command = [WHARF, "serve", "--http", address, "--http-token-file", str(self.folder / "secrets" / "token")]
        self.running[name] = subprocess.Popen(
            [*command, *self.options(name)], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log
        )
        until(f"{name} is ready", lambda: self.is_ready(name))

    def is_ready(self, name: str) -> bool:
        check(self.running[name].poll() is None, f"{name} runs", (self.folder / "hosts.log").read_text()[-800:])
        try:
            return httpx2.get(f"http://127.0.0.1:{self.ports[name]}/v1/ready", timeout=2).status_code == 200
        except httpx2.HTTPError:
            return False

    def balance(self) -> None:
        text = (REPOSITORY / "deploy" / "haproxy" / "haproxy.cfg").read_text(encoding="utf-8")
        for name, port in self.ports.items():
            text = text.replace(f"{name}:8088", f"127.0.0.1:{port}")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/mcp"
        configuration = self.folder / "haproxy.cfg"
        configuration.write_text(text.replace("bind :8080", f"bind 127.0.0.1:{port}"), encoding="utf-8")
        haproxy, environment = program("haproxy", "haproxy")
        with open(self.folder / "haproxy.log", "ab") as log:
            self.balancer = subprocess.Popen(
                [haproxy, "-db", "-f", str(configuration)],
                env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def command(self, *arguments: str, name: str = HOSTS[2]) -> str:
        done = subprocess.run([WHARF, *arguments, *self.options(name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        check(done.returncode == 0, f"wharf {' '.join(arguments)} succeeds", done.stderr.decode())
        return done.stdout.decode()

    def home_of(self) -> str:
        """The host that has a session, as it says each second."""
        def named() -> list[str]:
            hosts = json.loads(self.command("hosts", "--json"))["hosts"]
            return [host["name"] for host in hosts if host["sessions"] > 0 and host["state"] == "alive"]

        return until("a session has a home", named)[0]

    def stop(self) -> None:
        for process in [*self.running.values(), self.balancer]:
            process.kill()
            process.wait()

    @asynccontextmanager
    async def client(self) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as web:
            streams = streamable_http_client(self.url, http_client=web)
            async with Client(streams, mode=MODES[STATELESS], read_timeout_seconds=PATIENCE_SECONDS) as client:
                yield client


class Load:
    """An agent that notes one thing after another, wherever its calls arrive."""

    def __init__(self, hosts: Hosts) -> None:
        self.hosts, self.answered, self.failed = hosts, [], Counter()
        self.over = asyncio.Event()

    def meta(self, number: int) -> dict[str, Any]:
        return context(session="notes", thread=f"thread-{number // OF_ONE_THREAD}")

    async def run(self) -> None:
        number = 0
        while not self.over.is_set():
            try:
                async with self.hosts.client() as client:
                    while not self.over.is_set():
                        number += 1
                        name = f"note {number}"
                        result = await client.call_tool("planning__add_todo", {"name": name}, meta=self.meta(number))
                        if result.is_error:
                            self.failed[code_of(result)] += 1
                        else:
                            self.answered.append(number)
            except Exception as error:  # The connection of a call whose host died.
                self.failed[type(error).__name__] += 1

    async def verify(self, client: Client) -> None:
        names: Counter[str] = Counter()
        last = max(self.answered)
        for number in range(0, last + 1, OF_ONE_THREAD):
            state = await call(client, "planning__get_current_state", {}, self.meta(number))
            names.update(todo["name"] for todo in state.structured_content["todos"])
        lost = [number for number in self.answered if names[f"note {number}"] == 0]
        check(not lost, "no note that was acknowledged is lost", lost)
        twice = [name for name, times in names.items() if times > 1]
        check(not twice, "no note was made twice", twice)


def code_of(result: Any) -> str:
    """The host puts it beside the text, a plugin before it."""
    return error_of(result).get("code") or text_of(result).split(":")[0]


async def until_code(client: Client, tool: str, arguments: dict[str, Any], meta: dict[str, Any], code: str) -> list[str]:
    """What a call says until it ends with a code, each once."""
    told: dict[str, str] = {}
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        try:
            result = await client.call_tool(tool, arguments, meta=meta)
        except Exception:  # The balancer has not noticed yet.
            continue
        text = text_of(result)
        # A time in it counts down.
        told["".join(letter for letter in text if not letter.isdigit())] = text
        if code_of(result) == code:
            return list(told.values())
    raise CheckFailed(f"{tool} never ends with {code!r}: {list(told.values())}")


async def tell(folder: Path, database_folder: Path) -> None:
    chapter("1. Three hosts, one address")
    prose("A PostgreSQL primary with a synchronous standby, three hosts that share them, HAProxy in front.")
    database = Database(database_folder)
    hosts = None
    try:
        database.start()
        hosts = Hosts(folder, database)
        for name in HOSTS:
            hosts.start(name)
        hosts.balance()
        until("the balancer serves", lambda: reached(hosts.url))
        shown(hosts.command("hosts"))
        await story(hosts, database)
    finally:
        if hosts is not None:
            hosts.stop()
        database.stop()


def reached(url: str) -> bool:
    try:
        return httpx2.get(url.removesuffix("/mcp") + "/v1/ready", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


async def story(hosts: Hosts, database: Database) -> None:
    load = Load(hosts)
    noting = asyncio.create_task(load.run())
    try:
        await work(hosts, database, load, noting)
    finally:
        noting.cancel()


async def work(hosts: Hosts, database: Database, load: Load, noting: asyncio.Task[None]) -> None:
    meta = context(session="release", assistant="engineer", thread="1.0")
    async with hosts.client() as client:
        chapter("2. An agent works")
        prose("Its calls arrive at any host. Its plan is in the database; its files and its program are on one host.")
        await call(client, "planning__create_goal", {"goal": "Release 1.0"}, meta)
        await call(client, "workspace__write_file", {"path": "notes.txt", "content": "version 1.0\n"}, meta)
        started = await call(client, "workspace__execute_shell", {"command": "sleep 1000", "run_mode": "async"}, meta)
        process = {"process_id": started.structured_content["process_id"]}
        home = await asyncio.to_thread(hosts.home_of)
        shown(f"the home of the session is {home}")

        chapter(f"3. {home} is killed")
        before = Counter(load.failed)
        hosts.running[home].kill()
        hosts.running[home].wait()
        began = time.monotonic()
        gone = await until_code(client, "workspace__poll_process", process, meta, "gone")
        shown(f"after {time.monotonic() - began:.1f} s: {gone[-1]}")
        told = await until_code(client, "workspace__read_file", {"path": "notes.txt"}, meta, "not-found")
        shown("\n".join(told))
        check(any("files" in text for text in told), "it is told that its files are lost", told)
        goals = await call(client, "planning__list_goals", {}, meta)
        check("Release 1.0" in text_of(goals), "the plan is there", text_of(goals))
        prose("The plan is there, and the session goes on at another host, with an empty workspace.")
        await call(client, "workspace__write_file", {"path": "notes.txt", "content": "version 1.0\n"}, meta)
        prose(f"Meanwhile {len(load.answered)} notes were taken; calls that failed: {dict(load.failed - before) or 'none'}.")
        await asyncio.to_thread(hosts.start, home)

        chapter("4. A host is drained and started again, as for an upgrade")
        other = await asyncio.to_thread(hosts.home_of)
        name = next(name for name in HOSTS if name != other)
        before, answered = Counter(load.failed), len(load.answered)
        shown(await asyncio.to_thread(hosts.command, "hosts", "drain", name) or f"wharf hosts drain {name}")
        await asyncio.to_thread(until, "it is not ready", lambda: not hosts.is_ready(name))
        # Balancers ask once a second.
        await asyncio.sleep(2)
        hosts.running[name].terminate()
        code = await asyncio.to_thread(hosts.running[name].wait, PATIENCE_SECONDS)
        check(code == 0, "it ends in order", code)
        await asyncio.to_thread(hosts.start, name)
        check(load.failed == before, "no call failed", load.failed - before)
        prose(f"{len(load.answered) - answered} notes were taken meanwhile, and no call failed.")
        shown(await asyncio.to_thread(hosts.command, "hosts"))

        chapter("5. The database fails over")
        before = Counter(load.failed)
        await asyncio.to_thread(database.fail_over)
        began, answered = time.monotonic(), len(load.answered)
        end = began + PATIENCE_SECONDS
        while len(load.answered) < answered + 10 and time.monotonic() < end:
            await asyncio.sleep(0.05)
        check(len(load.answered) >= answered + 10, "notes are taken again", load.failed - before)
        shown(f"notes are taken again after {time.monotonic() - began:.1f} s; failed meanwhile: {dict(load.failed - before)}")
        kept = await until_read(client, meta)
        check("version 1.0" in kept, "the files are there", kept)
        prose("Files of the session are there: its home held contact, or found it again.")

        chapter("6. What is left of it")
        load.over.set()
        await noting
        await load.verify(client)
        shown(f"{len(load.answered)} notes were acknowledged: all are there, and none twice")
        shown(f"calls that failed, and said why: {dict(load.failed)}")
        shown(await asyncio.to_thread(hosts.command, "doctor", "--cluster"))


async def until_read(client: Client, meta: dict[str, Any]) -> str:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        result = await client.call_tool("workspace__read_file", {"path": "notes.txt"}, meta=meta)
        if not result.is_error:
            return text_of(result)
        check(error_of(result).get("code") == "unavailable", "the home has its files", text_of(result))
        check(time.monotonic() < end, "the files are read", text_of(result))
        await asyncio.sleep(0.1)


def main() -> int:
    folder = TARGET / "demo-cluster"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Short, and open to the user of the database: the path of a socket has 107 bytes.
    with tempfile.TemporaryDirectory(prefix="wharf-demo-", ignore_cleanup_errors=True) as database_folder:
        os.chmod(database_folder, 0o755)
        try:
            asyncio.run(tell(folder, Path(database_folder)))
        except CheckFailed as error:
            print(f"FAILED: {error}\nlogs: {folder}", file=sys.stderr)
            return 1
    print("\nEvery claim above was checked.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
