"""What every check needs: the binary under test, clients of it, and a count of what holds."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
MODES = {HANDSHAKE: "legacy", STATELESS: STATELESS}

# Only a defect waits for it: a first start compiles components.
PATIENCE_SECONDS = 120.0

class CheckFailed(Exception):
    """What was expected and is not so."""


class Report:
    """Counts checks and prints each one."""

    def __init__(self) -> None:
        self.passed = 0

    def check(self, holds: bool, what: str, found: Any = None) -> None:
        if not holds:
            detail = "" if found is None else f"\n      found: {shorten(found)}"
            raise CheckFailed(f"{what}{detail}")
        self.passed += 1
        print(f"ok    {what}", flush=True)


def shorten(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 2_000 else f"{text[:2_000]}… ({len(text)} characters)"


class Host:
    """How to start the binary under test on one data directory."""

    # More than a tool takes, and less than a message may have.
    large_bytes = 10_000_000

    def __init__(self, binary: Path, data: Path, log: Path) -> None:
        self.binary, self.data, self.log = binary, data, log

    def arguments(self, *more: str) -> list[str]:
        return ["serve", "--stdio", "--data", str(self.data), *more]

    def client(self, era: str, *more: str) -> Client:
        parameters = StdioServerParameters(
            command=str(self.binary), args=self.arguments(*more), env=dict(os.environ)
        )
        log = open(self.log, "a", encoding="utf-8")
        return Client(stdio_client(parameters, errlog=log), mode=MODES[era], read_timeout_seconds=PATIENCE_SECONDS)


class RawServer:
    """A server without the official client between: raw lines, and a process to kill."""

    def __init__(self, host: Host, *more: str) -> None:
        self.log = open(host.log, "ab")
        self.process = subprocess.Popen(
            [str(host.binary), *host.arguments(*more)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log
        )
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.next_id = 0

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        line = self.lines.get(timeout=PATIENCE_SECONDS)
        if line is None:
            raise CheckFailed("the server closed its output")
        return json.loads(line)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        while True:
            answer = self.receive()
            if answer.get("id") == self.next_id:
                return answer

    def handshake(self) -> None:
        client = {"name": "raw", "version": "1"}
        self.request("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client})
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})

    def end(self) -> int:
        """Closes the server's input and waits for it to leave."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(timeout=PATIENCE_SECONDS)


def context(session: str | None = None, assistant: str | None = None, thread: str | None = None) -> dict[str, Any]:
    ids = {"dev.wharf/sessionId": session, "dev.wharf/assistantId": assistant, "dev.wharf/threadId": thread}
    return {key: value for key, value in ids.items() if value is not None}


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def error_of(result: Any) -> dict[str, Any]:
    """What the host says about a failed call to programs."""
    return (result.meta or {}).get("dev.wharf/error", {})


async def call(client: Client, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> Any:
    result = await client.call_tool(tool, arguments, meta=meta)
    if result.is_error:
        raise CheckFailed(f"{tool} failed: {text_of(result)}")
    return result


async def refused(client: Client, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> tuple[str, str]:
    """The code and the text of a call that has to fail."""
    result = await client.call_tool(tool, arguments, meta=meta)
    if not result.is_error:
        raise CheckFailed(f"{tool} succeeded and should not have: {shorten(text_of(result))}")
    return error_of(result).get("code", ""), text_of(result)
