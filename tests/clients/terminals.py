"""The terminal plugin, as an agent uses it that talks to interactive programs; and turns over plain HTTP."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from mcp import Client

from harness import PATIENCE_SECONDS, CheckFailed, Host, Report, call, context, refused, shorten, text_of

AGENT = Path(__file__).with_name("agent.py")

GRANTS = """\
[plugin.workspace.grants.workspace]
reason = "a developer's own machine"
[plugin.terminal.grants.terminal]
reason = "a developer's own machine"
programs = ["*", "/usr/bin/*"]
shell = true
[plugin.terminal.grants.events]
reason = "what a program says while a turn runs"
[plugin.host.grants.terminal]
reason = "a developer's own machine"
shell = true
"""


class Console:
    """One session's terminal over a connection."""

    def __init__(self, client: Client, meta: dict[str, Any]) -> None:
        self.client, self.meta, self.id = client, meta, ""

    async def start(self, **arguments: Any) -> tuple[dict[str, Any], str]:
        result = await call(self.client, "terminal__start_terminal", arguments, self.meta)
        self.id = result.structured_content["terminal_id"]
        return result.structured_content, text_of(result)

    async def use(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """What a tool answers for programs, and what the model reads."""
        arguments = {"terminal_id": self.id, **arguments}
        result = await call(self.client, f"terminal__{tool}", arguments, self.meta)
        if not isinstance(result.structured_content, dict):
            raise CheckFailed(f"{tool} has no structured answer: {shorten(text_of(result))}")
        return result.structured_content, text_of(result)

    async def say(self, text: str, **arguments: Any) -> dict[str, Any]:
        answer, _ = await self.use("send_message", text=text, **arguments)
        return answer

    async def refused(self, tool: str, **arguments: Any) -> tuple[str, str]:
        return await refused(self.client, f"terminal__{tool}", {"terminal_id": self.id, **arguments}, self.meta)


def granted(directory: Path) -> Path:
    file = directory / "terminals.toml"
    file.write_text(GRANTS, encoding="utf-8")
    return file


async def off(report: Report, host: Host, era: str) -> None:
    async with host.client(era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        holds = not any(name.startswith("terminal__") for name in names)
        report.check(holds, f"{era}: without a grant there is no tool that opens terminals", names)


async def conversations(report: Report, host: Host, era: str) -> None:
    """A Python interpreter, a shell, and a program that answers like an agent."""
    file = granted(host.data.parent)
    async with host.client(era, "--config", str(file)) as client:
        console = Console(client, context(f"{era}-console", "talker", "one"))
        await python(report, console, era)
        await shell(report, console, era)
        await agent(report, console, era)
        stranger = Console(client, context(f"{era}-stranger", "talker", "one"))
        stranger.id = console.id
        _, text = await stranger.refused("send_message", text="hello")
        report.check(text.startswith("not-found"), f"{era}: a terminal of another session is not there", text)
        closed, _ = await console.use("close_terminal")
        report.check(closed["status"] == "closed", f"{era}: a terminal is closed", closed)


async def python(report: Report, console: Console, era: str) -> None:
    interpreter = shutil.which("python3", path="/usr/bin:/bin")
    if interpreter is None:
        report.check(True, f"{era}: NOT TESTED: there is no python3 of the system")
        return
    started, text = await console.start(program=interpreter, arguments=["-q"])
    report.check(">>>" in text, f"{era}: Python says what it says at first", text)
    answer = await console.say("6 * 7")
    found = (answer["text"].split(), answer["layer"], answer["still_running"])
    report.check(found == (["42", ">>>"], "L2", False), f"{era}: Python answers, and its prompt ends the turn", answer)
    answer = await console.say("import time; [print(n, flush=True) or time.sleep(0.6) for n in range(3)][0]")
    words = answer["text"].split()
    report.check(words[-4:] == ["0", "1", "2", ">>>"], f"{era}: pauses do not end a turn", answer)
    answer = await console.say("x = [")
    answer = await console.say("1, 2]")
    answer = await console.say("sum(x)")
    report.check("3" in answer["text"].split(), f"{era}: what was said before counts", answer)
    answer = await console.say("exit()")
    found = (answer["layer"], answer["reason"], answer["exit_code"], answer["status"])
    report.check(found[:3] == ("L0", "process-exited", 0), f"{era}: the end of the program ends the turn", answer)


async def shell(report: Report, console: Console, era: str) -> None:
    await console.start()
    answer = await console.say("cd /tmp && pwd; sh -c 'exit 3'")
    found = (answer["layer"], answer["reason"], answer["confidence"], answer["exit_code"])
    report.check(found == ("L1", "command-ended", "certain", 3), f"{era}: a shell says how its command ended", answer)
    answer = await console.say("pwd")
    report.check(answer["text"].splitlines()[0].endswith("/tmp"), f"{era}: a shell stays where it went", answer)
    answer = await console.say("echo 'one")
    found = (answer["reason"], answer["status"])
    report.check(found == ("needs-continuation", "needs-input"), f"{era}: half a command needs the rest", answer)
    answer = await console.say("two'")
    report.check("two" in answer["text"] and answer["exit_code"] == 0, f"{era}: and is carried out with it", answer)

    answer, text = await console.use("send_message", text="echo begun; sleep 1000", wait_seconds=1)
    report.check(answer["still_running"] and "wait_for_turn" in text, f"{era}: a turn outlasts its call, and the answer says so", text)
    _, text = await console.refused("send_message", text="echo second")
    report.check(text.startswith("conflict"), f"{era}: a second turn is a conflict", text)
    # A shell forgets an interrupt that comes before its child is a program.
    while answer["still_running"]:
        await console.use("send_keys", keys=["C-c"])
        answer, _ = await console.use("wait_for_turn", wait_seconds=5)
    report.check(answer.get("exit_code") == 130, f"{era}: C-c interrupts it, and the turn ends", answer)
    _, text = await console.refused("send_message", text="a\x04")
    report.check(text.startswith("invalid") and "C-d" in text, f"{era}: a control character is refused with the key to send", text)

    await console.use("resize", columns=100, rows=30)
    answer = await console.say("stty size")
    report.check("30 100" in answer["text"], f"{era}: the program is told its new size", answer)


async def agent(report: Report, console: Console, era: str) -> None:
    arguments = {"path": "agent.py", "content": AGENT.read_text(encoding="utf-8")}
    await call(console.client, "workspace__write_file", arguments, console.meta)
    seen: list[str] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append(message or "")

    await console.start(program="python3", arguments=["agent.py", "done"], preset="agent")
    started = time.time()
    result = await console.client.call_tool(
        "terminal__send_message",
        {"terminal_id": console.id, "text": "When may I sail?"},
        meta=console.meta,
        progress_callback=progress,
    )
    ended, answer = time.time(), result.structured_content
    read = await call(console.client, "workspace__read_file", {"path": "done"}, console.meta)
    times = [float(line) for line in read.structured_content["text"].split()]
    report.check(len(times) == 1 and ended > times[0], f"{era}: an agent's answer is whole when its turn is over", (times, ended, answer))
    holds = "Sail an hour before it." in answer["text"] and answer["layer"] == "L2"
    report.check(holds, f"{era}: with all that it said, and by its prompt", answer)
    late = ended - times[0]
    report.check(late < 60, f"{era}: {late:.1f} s after it was", (started, times, ended))
    report.check(any("tool" in line or "thinking" in line for line in seen), f"{era}: the client sees progress meanwhile", seen)


def over_http(report: Report, host: Host) -> None:
    """Turns over HTTP, with a plain client and with curl."""
    file = granted(host.data.parent)
    arguments = ["serve", "--http", "127.0.0.1:0", "--data", str(host.data), "--config", str(file)]
    with open(host.log, "ab") as log:
        server = subprocess.Popen([str(host.binary), *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            address = listening(server, log)
            token = (host.data / "http-token").read_text(encoding="utf-8").strip()
            Web(report, address, token).everything()
            attached(report, host, address, token)
            server.send_signal(signal.SIGTERM)
            report.check(server.wait(PATIENCE_SECONDS) == 0, "http: a host that is told to end does so")
        finally:
            server.kill()
            server.wait()


def listening(server: subprocess.Popen[bytes], log: Any) -> str:
    """The address in the line that says what is served."""
    assert server.stderr is not None
    for line in server.stderr:
        log.write(line)
        log.flush()
        found = re.search(rb"http://(127\.0\.0\.1:\d+)", line)
        if found:
            return found.group(1).decode()
    raise CheckFailed("http: the host does not say where it listens")


class Web:
    """A client of the routes."""

    def __init__(self, report: Report, address: str, token: str) -> None:
        self.report, self.address, self.token = report, address, token

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)
        sent = {"Authorization": f"Bearer {self.token}", "Wharf-Session": "web", **headers}
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def curl(self, path: str, body: Any = None, *more: str) -> list[tuple[str, Any]]:
        """The events that `curl -N` prints."""
        command = ["curl", "-N", "-sS", "-H", f"Authorization: Bearer {self.token}", "-H", "Wharf-Session: web", *more]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "-H", "Accept: text/event-stream", "-d", json.dumps(body)]
        command.append(f"http://{self.address}{path}")
        printed = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=True).stdout.decode()
        return events(printed)

    def everything(self) -> None:
        check = self.report.check
        status, _ = self.ask("GET", "/v1/terminals", Authorization="Bearer wrong-wrong-wrong-wrong")
        check(status == 401, "http: without the token nothing is served", status)
        status, described = self.ask("GET", "/v1/openapi.json")
        check(status == 200 and "/v1/terminals/{terminal}/turns" in described["paths"], "http: the routes are described", status)
        status, terminal = self.ask("POST", "/v1/terminals", {})
        check(status in (200, 201) and terminal["status"] in ("starting", "ready"), "http: a shell is started", (status, terminal))
        name = terminal["terminal"]
        status, _ = self.ask("GET", f"/v1/terminals/{name}", **{"Wharf-Session": "another"})
        check(status == 404, "http: another session does not find it", status)
        if shutil.which("curl"):
            told = self.curl(f"/v1/terminals/{name}/turns", {"text": "for n in 1 2 3; do echo step $n; sleep 0.3; done; sh -c 'exit 5'"})
        else:
            raise CheckFailed("http: there is no curl on this machine")
        kinds = [kind for kind, _ in told]
        complete = told[-1][1]
        text = "".join(data["text"] for kind, data in told if kind == "message")
        holds = kinds[-1] == "complete" and kinds.count("complete") == 1 and "status" in kinds
        check(holds and kinds.count("message") >= 2, "http: curl -N follows a turn as it goes", told)
        found = (complete["reason"], complete["confidence"], complete["exit_code"])
        check(found == ("command-ended", "certain", 5), "http: and is told why it is over", complete)
        check(all(f"step {n}" in text for n in (1, 2, 3)), "http: with all of the text", text)
        status, page = self.ask("GET", f"/v1/streams/{terminal['stream']}?from=0")
        numbers = [event["number"] for event in page["events"]]
        check(status == 200 and numbers == sorted(set(numbers)) and numbers, "http: the stream can be read again", page)
        status, output = self.ask("GET", f"/v1/terminals/{name}/output?from=0")
        check(status == 200 and "step 2" in output["content"], "http: and so can the output", output)
        status, _ = self.ask("POST", f"/v1/terminals/{name}/resize", {"columns": 90, "rows": 20})
        _, screen = self.ask("GET", f"/v1/terminals/{name}/screen")
        check((screen["columns"], screen["rows"]) == (90, 20), "http: it is resized", (status, screen))
        status, closed = self.ask("DELETE", f"/v1/terminals/{name}")
        check(status == 200 and closed["status"] == "closed", "http: it is closed", (status, closed))


def events(printed: str) -> list[tuple[str, Any]]:
    found = []
    for block in printed.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def attached(report: Report, host: Host, address: str, token: str) -> None:
    """The operator lists terminals and watches one."""
    web = Web(report, address, token)
    _, terminal = web.ask("POST", "/v1/terminals", {})
    command = [str(host.binary), "--data", str(host.data)]
    listed = subprocess.run([*command, "terminals", "--json"], capture_output=True, timeout=PATIENCE_SECONDS, check=True)
    ids = [one["id"] for one in json.loads(listed.stdout)["terminals"] if one["status"] != "closed"]
    report.check(terminal["terminal"] in ids, "wharf terminals lists what HTTP opened", listed.stdout.decode())
    watching = subprocess.Popen(
        [*command, "attach", terminal["terminal"], "--read-only"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert watching.stdout is not None
        # The screen comes first: from then on nothing is missed.
        shown = os.read(watching.stdout.fileno(), 65536)
        web.ask("POST", f"/v1/terminals/{terminal['terminal']}/turns", {"text": "echo see''n live"})
        while b"seen live" not in shown:
            more = os.read(watching.stdout.fileno(), 65536)
            if not more:
                raise CheckFailed(f"wharf attach ended early: {shown!r}")
            shown += more
        report.check(True, "wharf attach shows a terminal live")
        web.ask("DELETE", f"/v1/terminals/{terminal['terminal']}")
        report.check(watching.wait(PATIENCE_SECONDS) == 0, "and ends with it")
    finally:
        watching.kill()
        watching.wait()
