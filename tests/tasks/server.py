"""A host over standard input and output, as its process, with nothing between but JSON."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

HANDSHAKE = "2025-11-25"

# Only a defect waits for it: a first start may compile components.
PATIENCE_SECONDS = 120.0


class ServerGone(Exception):
    """The server ended or fell silent."""


class Server:
    """A `wharf serve --stdio` and what it answers."""

    def __init__(self, binary: Path, folder: Path, *more: str) -> None:
        self.log = folder / "server.log"
        command = [str(binary), "serve", "--stdio", "--session", "new", "--data", str(folder / "data"), *more]
        self.stderr = open(self.log, "ab")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr
        )
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.next_id = 0
        # Whether the list of tools changed since it was last asked for.
        self.changed = False

    def __enter__(self) -> Server:
        try:
            client = {"name": "tasks", "version": "1"}
            self.request("initialize", {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client})
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        """Closes the server's input and waits for it to leave, which ends all that it started."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except OSError:
            # It is gone, with what was not yet written to it.
            pass
        try:
            self.process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stderr.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise ServerGone(f"the server reads nothing more: {error}") from error

    def _receive(self) -> tuple[bytes, dict[str, Any]]:
        try:
            line = self.lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise ServerGone(f"nothing came for {PATIENCE_SECONDS:.0f} seconds") from None
        if line is None:
            raise ServerGone("the server closed its output")
        message = json.loads(line)
        self.changed |= message.get("method") == "notifications/tools/list_changed"
        return line, message

    def ask(self, method: str, params: dict[str, Any]) -> bytes:
        """The answer's line, as it came."""
        self.next_id += 1
        self._write({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        while True:
            line, message = self._receive()
            if message.get("id") == self.next_id:
                return line

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return json.loads(self.ask(method, params))

    def tools_with(self, wanted: set[str]) -> tuple[list[dict[str, Any]], int]:
        """All listed tools, once those are there: plugins of a configuration are compiled first."""
        while True:
            self.changed = False
            tools, size = self.tools()
            missing = wanted - {tool["name"] for tool in tools}
            if not missing:
                return tools, size
            while not self.changed:
                try:
                    self._receive()
                except ServerGone as error:
                    raise ServerGone(f"{error}; not listed: {', '.join(sorted(missing))}") from error

    def tools(self) -> tuple[list[dict[str, Any]], int]:
        """All listed tools, and the bytes of the answers that listed them."""
        tools: list[dict[str, Any]] = []
        size, params = 0, {}
        while True:
            line = self.ask("tools/list", params)
            size += len(line)
            answer = json.loads(line)
            if "result" not in answer:
                raise ServerGone(f"no list of tools: {answer.get('error')}")
            tools += answer["result"]["tools"]
            if not (cursor := answer["result"].get("nextCursor")):
                return tools, size
            params = {"cursor": cursor}

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})
