"""The same conversations as over standard streams, at `/mcp` of `wharf serve --http`."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from harness import HANDSHAKE, MODES, PATIENCE_SECONDS, STATELESS, CheckFailed, Host, Report
from terminals import listening

Check = Callable[[Report, Host, str], Awaitable[None]]


class Labelled(Report):
    """Says of each check how the server was reached."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report

    def check(self, holds: bool, what: str, found: Any = None) -> None:
        self.report.check(holds, f"http, {what}", found)


class WebHost(Host):
    """One server that all clients share."""

    large_bytes = 3_000_000

    def __init__(self, host: Host, data: Path, address: str, token: str) -> None:
        super().__init__(host.binary, data, host.log)
        self.url = f"http://{address}/mcp"
        self.headers = {"Authorization": f"Bearer {token}"}

    def client(self, era: str, *more: str) -> Any:
        if more:
            raise ValueError("the server was started already")
        return self.connected(era)

    @asynccontextmanager
    async def connected(self, era: str) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(headers=self.headers, timeout=PATIENCE_SECONDS) as web:
            streams = streamable_http_client(self.url, http_client=web)
            async with Client(streams, mode=MODES[era], read_timeout_seconds=PATIENCE_SECONDS) as client:
                yield client


async def conversations(report: Report, host: Host, checks: list[Check]) -> None:
    data = host.data.parent / "http-data"
    # No configuration of the person who runs this.
    file = host.data.parent / "http.toml"
    file.write_text("", encoding="utf-8")
    arguments = ["serve", "--http", "127.0.0.1:0", "--data", str(data), "--config", str(file)]
    with open(host.log, "ab") as log:
        server = subprocess.Popen([str(host.binary), *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            address = await anyio.to_thread.run_sync(listening, server, log)
            assert server.stderr is not None
            # What nobody reads would stop the server in the end.
            threading.Thread(target=lambda: log.writelines(server.stderr), daemon=True).start()
            token = (data / "http-token").read_text(encoding="utf-8").strip()
            web = WebHost(host, data, address, token)
            for era in (HANDSHAKE, STATELESS):
                for check in checks:
                    await check(Labelled(report), web, era)
            await strangers(report, web)
            server.send_signal(signal.SIGTERM)
            code = await anyio.to_thread.run_sync(server.wait, PATIENCE_SECONDS)
            report.check(code == 0, "http, a host that serves the protocol ends when it is told to", code)
        finally:
            server.kill()
            server.wait()


async def strangers(report: Report, host: WebHost) -> None:
    """A client without a token, or on a page elsewhere, is told nothing."""
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as web:
        for what, headers, expected in (
            ("without a token", {}, {401}),
            ("with a wrong token", {"Authorization": "Bearer wrong-wrong-wrong-wrong"}, {401}),
            ("from a page elsewhere", {**host.headers, "Origin": "https://example.com"}, {403}),
            ("under a name that leads here by chance", {**host.headers, "Host": "example.com"}, {403, 421}),
        ):
            answer = await web.post(host.url, json=request, headers={**accept, **headers})
            if "planning" in answer.text:
                raise CheckFailed(f"http, {what}: it was told the tools")
            report.check(answer.status_code in expected, f"http, {what} nothing is answered", answer.status_code)
