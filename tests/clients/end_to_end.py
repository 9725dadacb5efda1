#!/usr/bin/env python3
"""Drives a built `wharf` with the official MCP client, as an agent app would.

Usage: end_to_end.py [PATH_OF_WHARF]     (or the environment variable WHARF)
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, MCPError

import browser
import documents
import over_http
import playbooks
import terminals
import workspace
from harness import (
    HANDSHAKE,
    STATELESS,
    CheckFailed,
    Host,
    RawServer,
    Report,
    call,
    context,
    refused,
    shorten,
    text_of,
)

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601

ILLEGAL_IDS = {
    "of no characters": "",
    "with a space": "a b",
    "with a path": "../x",
    "of 129 characters": "x" * 129,
    "that is a number": 7,
}


async def state_of(client: Client, meta: dict[str, Any]) -> tuple[str | None, list[str]]:
    """The goal and the names of the todos of one context."""
    result = await call(client, "planning__get_current_state", {}, meta)
    state = result.structured_content
    if not isinstance(state, dict):
        raise CheckFailed(f"planning__get_current_state has no structured answer: {shorten(text_of(result))}")
    goal = state.get("goal")
    # A goal may be a text or an object that has one.
    if isinstance(goal, dict):
        goal = goal.get("goal") or goal.get("text") or goal.get("name")
    return goal, [todo["name"] for todo in state.get("todos", [])]


def property_names(schema: Any) -> list[str]:
    """The names of all properties, at any depth."""
    if isinstance(schema, list):
        return [name for part in schema for name in property_names(part)]
    if not isinstance(schema, dict):
        return []
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    return names + [name for part in schema.values() for name in property_names(part)]


async def opening_and_listing(report: Report, host: Host, era: str) -> None:
    async with host.client(era) as client:
        report.check(client.protocol_version == era, f"{era}: the connection opens in this era", client.protocol_version)
        if era == HANDSHAKE:
            info = client.server_info
            report.check(info is not None and info.name == "wharf", f"{era}: the server names itself wharf", info)
            capabilities = client.server_capabilities
            report.check(capabilities.tools is not None, f"{era}: tools are advertised", capabilities)
            report.check(capabilities.prompts is None, f"{era}: prompts, which there are none of, are not", capabilities)
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        report.check(names == sorted(names) and len(set(names)) == len(names), f"{era}: tools are listed in order", names)
        wanted = {"planning__create_goal", "planning__add_todo", "planning__get_current_state"}
        report.check(wanted <= set(names), f"{era}: the planning tools are among them", names)
        again = (await client.list_tools(cache_mode="bypass")).tools
        report.check(again == tools, f"{era}: listing twice gives the same")
        hidden = [
            (tool.name, name)
            for tool in tools
            for name in property_names(tool.input_schema) + property_names(tool.output_schema)
            if name.startswith("__")
        ]
        report.check(not hidden, f"{era}: no schema shows a context field", hidden)
        bare = [tool.name for tool in tools if not (tool.description or "").strip()]
        report.check(not bare, f"{era}: every tool has a description", bare)
        try:
            await client.list_prompts()
            found: Any = "an answer"
        except MCPError as error:
            found = error.code
        report.check(found == METHOD_NOT_FOUND, f"{era}: prompts/list is refused as unknown", found)


async def contexts_at_once(report: Report, host: Host, era: str) -> None:
    # Ids that a careless key would mix up are among them.
    contexts = [
        context(session, assistant, thread)
        for session in (f"{era}-one", f"{era}-two", f"{era}-one:a")
        for assistant in (None, "a", "none")
        for thread in (None, "t", "default")
    ]
    todos = 4

    async with host.client(era) as client:

        async def plan(at: int) -> None:
            await call(client, "planning__create_goal", {"goal": f"goal {at}"}, contexts[at])
            for number in range(todos):
                await call(client, "planning__add_todo", {"name": f"todo {at}.{number}"}, contexts[at])

        async with anyio.create_task_group() as group:
            for at in range(len(contexts)):
                group.start_soon(plan, at)

        for at, meta in enumerate(contexts):
            state = await state_of(client, meta)
            expected = (f"goal {at}", [f"todo {at}.{number}" for number in range(todos)])
            if state != expected:
                raise CheckFailed(f"{era}: {meta} holds {state}, expected {expected}")
        report.check(True, f"{era}: {len(contexts)} contexts planned at once, each holds its own goal and todos")

        for what, meta in {
            "session": context(f"{era}-three", "a", "t"),
            "assistant": context(f"{era}-one", "b", "t"),
            "thread": context(f"{era}-one", "a", "u"),
        }.items():
            state = await state_of(client, meta)
            report.check(state == (None, []), f"{era}: another {what} sees none of it", state)


async def known_clients(report: Report, host: Host, era: str) -> None:
    async with host.client(era) as client:
        await call(client, "planning__create_goal", {"goal": "of vscode"}, {"vscode.conversationId": f"{era} conversation/1"})
        await call(client, "planning__create_goal", {"goal": "of codex"}, {"threadId": f"{era}-codex"})
        one = await state_of(client, {"vscode.conversationId": f"{era} conversation/1"})
        other = await state_of(client, {"vscode.conversationId": f"{era} conversation/2"})
        codex = await state_of(client, {"threadId": f"{era}-codex"})
        found = (one[0], other[0], codex[0])
        report.check(found == ("of vscode", None, "of codex"), f"{era}: conversations of known clients are kept apart", found)


async def forged_context(report: Report, host: Host, era: str) -> None:
    victim, attacker = context(f"{era}-victim"), context(f"{era}-attacker")
    async with host.client(era) as client:
        await call(client, "planning__create_goal", {"goal": "mine"}, victim)
        forged = {"goal": "forged", "__sessionId": f"{era}-victim", "__assistantId": "a", "__threadId": "t"}
        await call(client, "planning__create_goal", forged, attacker)
        found = ((await state_of(client, victim))[0], (await state_of(client, attacker))[0])
        report.check(found == ("mine", "forged"), f"{era}: a context written into arguments has no effect", found)


async def bad_arguments(report: Report, host: Host, era: str) -> None:
    meta = context(f"{era}-bad")
    async with host.client(era) as client:
        await call(client, "planning__create_goal", {"goal": "before"}, meta)

        code, text = await refused(client, "planning__create_goal", {}, meta)
        holds = code == "invalid" and "goal" in text and "required" in text
        report.check(holds, f"{era}: a missing argument is named, with the rule", (code, text))

        code, text = await refused(client, "planning__create_goal", {"goal": 7}, meta)
        holds = code == "invalid" and "goal" in text and "string" in text
        report.check(holds, f"{era}: an argument of a wrong type is named, with the rule", (code, text))

        code, text = await refused(client, "planning__mark_todo", {"id": 0}, meta)
        holds = code == "invalid" and "id" in text and ("minimum" in text or "1" in text)
        report.check(holds, f"{era}: an argument out of range is named, with the rule", (code, text))

        try:
            await client.call_tool("planning__create_gaol", {"goal": "x"}, meta=meta)
            error = None
        except MCPError as raised:
            error = raised
        holds = error is not None and error.code == INVALID_PARAMS and "planning__create_goal" in error.message
        report.check(holds, f"{era}: an unknown tool is an error that names near ones", error)

        code, text = await refused(client, "planning__create_goal", {"goal": "x" * host.large_bytes}, meta)
        holds = code in ("limit", "invalid") and len(text) < 10_000
        report.check(holds, f"{era}: arguments of {host.large_bytes} bytes are refused in a few words", (code, text))

        for shown, illegal in ILLEGAL_IDS.items():
            code, text = await refused(client, "planning__create_goal", {"goal": "x"}, {"dev.wharf/sessionId": illegal})
            report.check(code == "invalid" and len(text) < 1_000, f"{era}: a session id {shown} is refused", (code, text))

        state = await state_of(client, meta)
        report.check(state == ("before", []), f"{era}: the server lives on, and nothing was half-written", state)


async def session_of_the_command(report: Report, host: Host, era: str) -> None:
    async with host.client(era, "--session", "named-by-command") as client:
        await call(client, "planning__create_goal", {"goal": "named"}, {})
        found = (await state_of(client, context("named-by-command")))[0]
        report.check(found == "named", f"{era}: --session names the session of calls that name none", found)


async def two_servers(report: Report, host: Host, era: str) -> None:
    meta, each = context(f"{era}-shared"), 20
    async with host.client(era) as one, host.client(era) as other:
        await call(one, "planning__create_goal", {"goal": "shared"}, meta)
        goal = (await state_of(other, meta))[0]
        report.check(goal == "shared", f"{era}: two servers on one data directory see the same state", goal)

        async def add(client: Client, who: str) -> None:
            for number in range(each):
                await call(client, "planning__add_todo", {"name": f"{who} {number}"}, meta)

        async with anyio.create_task_group() as group:
            group.start_soon(add, one, "one")
            group.start_soon(add, other, "other")
        expected = sorted(f"{who} {number}" for who in ("one", "other") for number in range(each))
        names = sorted((await state_of(one, meta))[1])
        report.check(names == expected, f"{era}: what both add at once is all there, once", names)


async def restart(report: Report, host: Host, era: str) -> None:
    meta = context(f"{era}-restart", "a", "t")
    async with host.client(era) as client:
        await call(client, "planning__create_goal", {"goal": "to stay"}, meta)
        await call(client, "planning__add_todo", {"name": "first"}, meta)
    async with host.client(era) as client:
        state = await state_of(client, meta)
    report.check(state == ("to stay", ["first"]), f"{era}: state outlives a restart", state)


async def crash(report: Report, host: Host) -> None:
    meta = context("crash")
    server = RawServer(host)
    try:
        server.handshake()
        server.call("planning__create_goal", {"goal": "to survive"}, meta)
        names = [f"todo {number}" for number in range(25)]
        for name in names:
            answer = server.call("planning__add_todo", {"name": name}, meta)
            if answer.get("result", {}).get("isError", True):
                raise CheckFailed(f"planning__add_todo failed: {shorten(answer)}")
    finally:
        server.kill()
    async with host.client(STATELESS) as client:
        state = await state_of(client, meta)
    report.check(state == ("to survive", names), "what was answered outlives kill -9", state)


def raw_lines(report: Report, host: Host) -> None:
    server = RawServer(host)
    try:
        server.write(b"this is not JSON")
        error = server.receive().get("error", {})
        report.check(error.get("code") == -32700, "a line that is not JSON is answered with a parse error", error)
        server.handshake()
        answer = server.request("tools/call", {"name": "planning__create_goal", "arguments": ["no", "object"]})
        code = answer.get("error", {}).get("code")
        report.check(code == INVALID_PARAMS, "arguments that are no object are refused under the request's id", answer)
        server.write(b'{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"' + b"x" * 20_000_000 + b'"}}')
        answer = server.receive()
        found = (answer.get("id"), answer.get("error", {}).get("code"))
        report.check(found == ("big", -32600), "a message of 20 MB is refused under its id", found)
        answer = server.call("planning__get_current_state", {}, context("raw"))
        report.check("result" in answer, "the server lives on after all that", answer)
        code = server.end()
        report.check(code == 0, "the server leaves with code 0 when its input is closed", code)
    finally:
        server.kill()


async def over_standard_streams(report: Report, host: Host, era: str) -> None:
    await opening_and_listing(report, host, era)
    await contexts_at_once(report, host, era)
    await known_clients(report, host, era)
    await forged_context(report, host, era)
    await bad_arguments(report, host, era)
    await session_of_the_command(report, host, era)
    await two_servers(report, host, era)
    await restart(report, host, era)
    await playbooks.carried_out(report, host, era)
    await playbooks.permissions(report, host, era)
    await documents.found_and_read(report, host, era)
    await documents.hostile(report, host, era)
    await workspace.off(report, host, era)
    await workspace.built(report, host, era)
    await workspace.followed(report, host, era)
    await terminals.off(report, host, era)
    await terminals.conversations(report, host, era)
    await browser.off(report, host, era)
    await browser.tasks(report, host, era)


async def everything(report: Report, binary: Path, directory: Path) -> None:
    host = Host(binary, directory / "data", directory / "log")
    shared = [opening_and_listing, contexts_at_once, known_clients, forged_context, bad_arguments]
    # The first start has compiled for the others then.
    await opening_and_listing(report, host, HANDSHAKE)
    # Side by side, and each on a data directory of its own: what a server leaves behind is for
    # the next one on its directory, also where another client starts that.
    other = Host(binary, directory / "other" / "data", host.log)
    await anyio.to_thread.run_sync(shutil.copytree, host.data, other.data)
    async with anyio.create_task_group() as clients:
        clients.start_soon(over_standard_streams, report, host, HANDSHAKE)
        clients.start_soon(over_standard_streams, report, other, STATELESS)
        clients.start_soon(over_http.conversations, report, host, shared)
    await crash(report, host)
    await workspace.killed(report, host)
    await anyio.to_thread.run_sync(terminals.over_http, report, host)
    await anyio.to_thread.run_sync(raw_lines, report, host)


def reason_of(error: BaseException) -> BaseException:
    """The one failure inside the groups that task groups wrap it in."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return error


def main() -> int:
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("WHARF")
    binary = Path(given) if given else Path(__file__).resolve().parents[2] / "target" / "debug" / "wharf"
    if not binary.is_file():
        print(f"there is no {binary}: build it with `cargo build`, or name another one", file=sys.stderr)
        return 2
    report, started = Report(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wharf-clients-") as directory:
        try:
            anyio.run(everything, report, binary.resolve(), Path(directory))
        except BaseException as raised:
            reason = reason_of(raised)
            if isinstance(reason, (KeyboardInterrupt, SystemExit)):
                raise
            shown = reason if isinstance(reason, CheckFailed) else f"{type(reason).__name__}: {reason}"
            print(f"FAIL  {shown}", flush=True)
            log = Path(directory) / "log"
            if log.is_file():
                lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:]
                print("the end of the server's log:", *lines, sep="\n      ", flush=True)
            print(f"client: failed after {report.passed} checks", flush=True)
            return 1
    print(f"client: {report.passed} checks passed in {time.monotonic() - started:.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
