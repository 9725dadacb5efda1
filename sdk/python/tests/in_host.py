#!/usr/bin/env python3
"""Tries the kit with a real host: `in_host.py WHARF COMPONENTIZE_PY [GUESTS]`.

From scratch, in a temporary directory: makes the wheel, installs it into a new
environment, builds the examples with it, adds and grants them, and calls their
tools. Prints one line for each check. The exit code is 1 where one failed. Needs
`cc`, Chromium, and the package registry of pip for `setuptools`. Leaves the guest of
the tests that every language passes in the directory GUESTS, where it is named.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SDK = Path(__file__).resolve().parents[1]
TESTED = SDK / "tests" / "plugins"
# A folder for each release, with its wheel and a plugin that was written for it.
KITS = SDK.parents[1] / "tests" / "kits"
PLUGINS = {
    "greeter": SDK / "examples" / "greeter",
    "builder": SDK / "examples" / "builder",
    "page_reader": SDK / "examples" / "page_reader",
    "offering": TESTED,
}
PAGE = b"<title>Tides</title><body><p>High water.</p><script>document.body.append('At noon.')</script>"
HELLO = '#include <stdio.h>\nint main(void) { int unused; puts("ahoy"); return 0; }\n'
DEADLINE_SECONDS = 300
MEASURED_CALLS = 50
TOGETHER = 40


class Trial:
    """One run: where everything is, and what was found."""

    def __init__(self, wharf: str, componentize_py: str, folder: Path, guests: Path | None) -> None:
        self.wharf = wharf
        self.componentize_py = componentize_py
        self.folder = folder
        self.guests = guests
        self.passed = 0
        self.failed = 0

    def check(self, what: str, holds: bool, found: object = "") -> None:
        """Prints one line."""
        self.passed, self.failed = self.passed + holds, self.failed + (not holds)
        print(f"{'ok    ' if holds else 'FAILED'} {what}{'' if holds else f': {str(found)[-2_000:]}'}", flush=True)

    def run(self, *command: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        texts = [str(word) for word in command]
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.run(
            texts, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS
        )

    def host(self, *words: str) -> list[str]:
        """The command line of the host with these words."""
        places = ["--config", str(self.folder / "wharf.toml"), "--data", str(self.folder / "data")]
        return [self.wharf, *places, "--log", "error", "--quiet", *words]

    def call(self, tool: str, arguments: dict[str, Any], session: str) -> dict[str, Any]:
        """Calls a tool by `wharf call` and returns its answer, or its error under `error`."""
        done = self.run(*self.host("call", tool, json.dumps(arguments), "--session", session, "--json"))
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            return {"error": {"code": "no JSON", "message": done.stdout + done.stderr}}
        return answer


class Client:
    """A client of the Model Context Protocol over standard input and output."""

    def __init__(self, trial: Trial, session: str) -> None:
        command = trial.host("serve", "--stdio", "--session", session)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        self.notified: list[str] = []
        client = {"name": "in_host", "version": "1"}
        capabilities: dict[str, Any] = {"elicitation": {}}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client})
        self._send({"method": "notifications/initialized"})

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and returns its result or error. Fills in forms on the way."""
        self.number += 1
        self._send({"id": self.number, "method": method, "params": parameters})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("method") == "elicitation/create":
                self._send({"id": message["id"], "result": {"action": "accept", "content": {"name": "Ada"}}})
            elif "method" in message:
                self.notified.append(message["method"])
            elif message.get("id") == self.number:
                result: dict[str, Any] = message.get("result") or message["error"]
                return result
        raise EOFError("the host ended")

    def ask_at_once(self, method: str, parameters: dict[str, Any], times: int) -> list[dict[str, Any]]:
        """Sends one request many times before it reads any result."""
        first = self.number + 1
        self.number += times
        for number in range(first, self.number + 1):
            self._send({"id": number, "method": method, "params": parameters})
        results: list[dict[str, Any]] = []
        assert self.process.stdout is not None
        while len(results) < times:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") in range(first, self.number + 1):
                results.append(message.get("result") or message["error"])
        return results

    def tool(self, name: str, arguments: dict[str, Any], **meta: Any) -> dict[str, Any]:
        """Calls a tool."""
        parameters = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        return self.ask("tools/call", parameters)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """Ends the host."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)


def text_of(answer: dict[str, Any]) -> str:
    """The first text of an answer."""
    content = answer.get("content") or [{}]
    return str(content[0].get("text", ""))


@contextlib.contextmanager
def site() -> Iterator[str]:
    """A server on this machine with one page. Yields its origin."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def build_all(trial: Trial) -> bool:
    """The wheel, an environment of its own, and a component of each plugin."""
    trial.run(sys.executable, "-m", "venv", trial.folder / "maker")
    wheels = trial.folder / "wheels"
    made = trial.run(trial.folder / "maker" / "bin" / "pip", "wheel", "--no-deps", "--wheel-dir", wheels, SDK)
    found = list(wheels.glob("wharf_sdk-*-py3-none-any.whl"))
    trial.check("pip wheel makes a wheel without native code", len(found) == 1, made.stdout + made.stderr)
    if not found:
        return False
    venv.create(trial.folder / "fresh", with_pip=True)
    python = trial.folder / "fresh" / "bin" / "python"
    installed = trial.run(python, "-m", "pip", "install", "--no-index", "--no-deps", found[0])
    trial.check("the wheel installs into a fresh environment", installed.returncode == 0, installed.stderr)
    folder = trial.run(python, "-m", "wharf_sdk", "wit").stdout.strip()
    inside = folder.startswith(str(trial.folder)) and Path(folder, "worlds.wit").is_file()
    trial.check("the installed package carries the contract", inside, folder)
    guests = {} if trial.guests is None else {"suite": trial.guests / "python.wasm"}
    outputs = {name: trial.folder / f"{name.replace('_', '-')}.wasm" for name in PLUGINS} | guests
    for name, output in outputs.items():
        started = time.monotonic()
        words: list[str | Path] = [
            "build",
            name,
            "--path",
            PLUGINS.get(name, TESTED),
            "--output",
            output,
            "--componentize-py",
            trial.componentize_py,
        ]
        done = trial.run(python, "-m", "wharf_sdk", *words)
        seconds = time.monotonic() - started
        size = output.stat().st_size if output.is_file() else 0
        trial.check(f"{name} builds ({size:,} bytes, {seconds:.1f} s)", done.returncode == 0, done.stderr)
    return trial.failed == 0


def grant_all(trial: Trial, origin: str) -> None:
    """Adds the plugins and grants each what it asks for, as an operator does."""
    port = origin.rpartition(":")[2]
    grants = {
        "greeter": ["state"],
        "builder": ["process=cc", "workspace.access=write"],
        "page-reader": [f"webview={origin}", "webview.private_addresses=true"],
        "offering": [
            "events",
            "terminal.shell=true",
            f"http=http://127.0.0.1:{port}/*",
            "http.private_addresses=true",
        ],
    }
    (trial.folder / "wharf.toml").touch()
    for name, allowed in grants.items():
        added = trial.run(*trial.host("plugin", "add", str(trial.folder / f"{name}.wasm")))
        words = [word for capability in allowed for word in ("--allow", capability)]
        granted = trial.run(*trial.host("grant", name, *words, "--reason", "tries the kit"))
        holds = added.returncode == 0 and granted.returncode == 0
        trial.check(f"{name} is added and granted", holds, added.stderr + granted.stdout + granted.stderr)
    shown = trial.run(*trial.host("inspect", str(trial.folder / "greeter.wasm"))).stdout
    trial.check("a component asks for what it has reasons for", "It asks for: state." in shown, shown)
    trial.check("the reason is in the component", 'reason = "counts visits"' in shown, shown)


def try_greeter(trial: Trial) -> None:
    """State, sessions, and errors with their codes."""
    ada = {"name": "Ada"}
    first = trial.call("greeter__greet", ada, "a")
    trial.check("a tool answers", text_of(first) == "Welcome, Ada. Visit 1.", first)
    second = trial.call("greeter__greet", ada, "a")
    trial.check("state survives between calls", second.get("structured") == {"count": 2}, second)
    other = trial.call("greeter__greet", ada, "b")
    trial.check("another session does not see it", other.get("structured") == {"count": 1}, other)
    missing = trial.call("greeter__forget", {"name": "Bo"}, "a")
    trial.check("an error has its code", missing.get("error", {}).get("code") == "not-found", missing)
    invalid = trial.call("greeter__greet", {"name": ""}, "a")
    trial.check("the schema's bounds hold", invalid.get("error", {}).get("code") == "invalid", invalid)


def try_earlier_kits(trial: Trial) -> None:
    """Plugins that are made with the kits of earlier releases."""
    for kit in sorted(folder for folder in KITS.iterdir() if folder.is_dir()):
        name = f"kit-{kit.name.replace('.', '-')}"
        environment, component = trial.folder / name, trial.folder / f"{name}.wasm"
        venv.create(environment, with_pip=True)
        python = environment / "bin" / "python"
        (wheel,) = kit.glob("*.whl")
        trial.run(python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
        words: list[str | Path] = ["greeter", "--path", kit, "--output", component]
        built = trial.run(python, "-m", "wharf_sdk", "build", *words, "--componentize-py", trial.componentize_py)
        trial.run(*trial.host("plugin", "add", "--name", name, str(component)))
        trial.run(*trial.host("grant", name, "--allow", "state", "--reason", "tries an earlier kit"))
        answer = trial.call(f"{name}__greet", {"name": "Ada"}, "a")
        holds = answer.get("structured") == {"count": 1}
        trial.check(f"a plugin that is made with the kit of {kit.name} answers", holds, f"{built.stderr}{answer}")


def try_builder(trial: Trial) -> None:
    """A process in the session's workspace."""
    missing = trial.call("builder__build", {"file": "hello.c"}, "a")
    trial.check("a missing file is not found", missing.get("error", {}).get("code") == "not-found", missing)
    trial.call("builder__write_source", {"file": "hello.c", "text": HELLO}, "a")
    built = trial.call("builder__build", {"file": "hello.c", "program": "hello"}, "a").get("structured") or {}
    trial.check("cc compiles a file of the workspace", built.get("exit_code") == 0, built)
    trial.check("its warnings are answered", "unused" in str(built.get("output")), built)
    other = trial.call("builder__build", {"file": "hello.c"}, "b")
    trial.check("another session has another workspace", other.get("error", {}).get("code") == "not-found", other)
    trial.call("builder__write_source", {"file": "bad.c", "text": "int main(void) {"}, "a")
    failed = trial.call("builder__build", {"file": "bad.c"}, "a")
    structured = failed.get("structured") or {}
    trial.check("a failed build is an answer", structured.get("exit_code") == 1 and not failed["isError"], failed)


def try_page_reader(trial: Trial, origin: str) -> None:
    """A page, with its scripts."""
    read = trial.call("page-reader__read_page", {"url": f"{origin}/"}, "a")
    page = read.get("structured") or {}
    trial.check("a page is read, title and text", page.get("title") == "Tides" and "High water." in page["text"], read)
    trial.check("its scripts have run", "At noon." in str(page.get("text")), read)
    denied = trial.call("page-reader__read_page", {"url": "http://example.com/"}, "a")
    trial.check("another origin is denied", denied.get("error", {}).get("code") == "denied", denied)


def try_offering(trial: Trial, client: Client, origin: str) -> None:
    """What a client sees beside tools."""
    asked = client.tool("offering__greet", {})
    trial.check("a tool asks a person and goes on", text_of(asked) == "Hello, Ada!", asked)
    prompts = client.ask("prompts/list", {})["prompts"]
    trial.check("a prompt is listed", [prompt["name"] for prompt in prompts] == ["offering__review"], prompts)
    made = client.ask("prompts/get", {"name": "offering__review", "arguments": {"path": "a.c"}})
    trial.check("a prompt is made", made["messages"][0]["content"]["text"] == "Review a.c in english.", made)
    reference = {"type": "ref/prompt", "name": "offering__review"}
    words = client.ask("completion/complete", {"ref": reference, "argument": {"name": "language", "value": "ko"}})
    trial.check("a word is completed", words["completion"]["values"] == ["korean"], words)
    listed = client.ask("resources/list", {})["resources"]
    trial.check("a resource is listed", "manual://chapters/bow" in [one["uri"] for one in listed], listed)
    read = client.ask("resources/read", {"uri": "manual://chapters/bow"})
    trial.check("a resource is read", read["contents"][0]["text"] == "Let go forward.", read)
    missing = client.ask("resources/read", {"uri": "manual://chapters/stern"})
    trial.check("a missing resource is not found", "code" in missing, missing)
    typed = client.tool("offering__type_line", {"text": "echo $((6 * 7)); false"})
    trial.check("a terminal's turn ends with its exit code", text_of(typed).endswith("42 (1)"), typed)
    fetched = client.tool("offering__fetch", {"text": f"{origin}/"}).get("structuredContent") or {}
    trial.check("an HTTP request is answered", fetched.get("status") == 200 and "Tides" in fetched["body"], fetched)
    denied = client.tool("offering__fetch", {"text": "http://example.com/"})
    trial.check("another server is denied", denied["isError"] and "to allow it" in text_of(denied), denied)
    worked = client.tool("offering__work", {}, progressToken="p")
    trial.check("events are sent", text_of(worked) == "done", worked)
    trial.check("progress reaches the client", "notifications/progress" in client.notified, client.notified)
    broken = client.tool("offering__break_down", {})
    error = broken.get("_meta", {}).get("dev.wharf/error", {})
    holds = error.get("code") == "internal" and text_of(broken) == "ZeroDivisionError: no such number"
    trial.check("an unexpected exception is internal, without its traceback", holds, broken)


def try_together(trial: Trial, client: Client) -> None:
    """Calls at the same time that change one entry."""
    visit = {"name": "greeter__greet", "arguments": {"name": "Everybody"}}
    answers = client.ask_at_once("tools/call", visit, TOGETHER)
    counts = sorted(answer.get("structuredContent", {}).get("count", 0) for answer in answers)
    trial.check(f"{TOGETHER} calls at once lose no visit", counts == list(range(1, TOGETHER + 1)), answers)


def measure(trial: Trial, client: Client) -> None:
    """How long a call of the greeter takes in a host that serves, state included."""
    taken = []
    answer: dict[str, Any] = {}
    for _ in range(MEASURED_CALLS):
        started = time.perf_counter()
        answer = client.tool("greeter__greet", {"name": "Grace"})
        taken.append((time.perf_counter() - started) * 1_000)
    taken.sort()
    shown = (
        f"{taken[len(taken) // 2]:.1f} ms at the median, {taken[int(len(taken) * 0.95)]:.1f} ms at the 95th percentile"
    )
    trial.check(f"{MEASURED_CALLS} calls over stdio take {shown} each", "Visit" in text_of(answer), answer)


def main(wharf: str, componentize_py: str, guests: str | None = None) -> int:
    """Runs all checks."""
    with tempfile.TemporaryDirectory(prefix="wharf-kit-") as folder, site() as origin:
        programs = str(Path(wharf).resolve()), str(Path(componentize_py).absolute())
        trial = Trial(*programs, Path(folder), None if guests is None else Path(guests).absolute())
        if build_all(trial):
            grant_all(trial, origin)
            rounds: list[Callable[[], None]] = [
                lambda: try_greeter(trial),
                lambda: try_earlier_kits(trial),
                lambda: try_builder(trial),
                lambda: try_page_reader(trial, origin),
            ]
            for attempt in rounds:
                attempt()
            client = Client(trial, "stdio")
            try:
                try_offering(trial, client, origin)
                try_together(trial, client)
                measure(trial, client)
            finally:
                client.close()
        print(f"{trial.passed} checks passed, {trial.failed} failed")
        return 1 if trial.failed else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
