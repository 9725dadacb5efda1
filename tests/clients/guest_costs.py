#!/usr/bin/env python3
"""What guests of each language cost: `guest_costs.py WHARF COMPONENT...`.

Serves each component over standard input and output and prints its size, a call that answers a
text, a fresh instance included, and one call of the host. Needs guests that have the tools `text`
and `host_calls`: `target/plugins/components/guest-hostile.wasm`, which `cargo xtask plugins --guests`
makes, and those in `target/kit-guests`, which `cargo xtask test --only kits` makes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CALLS = 300
HOST_CALLS = 5_000


class Served:
    """A host with one plugin, which is called one call after the other."""

    def __init__(self, wharf: str, component: Path, folder: Path) -> None:
        config = folder / "wharf.toml"
        config.write_text(f"[plugin.guest]\nsource = '{component}'\n")
        command = [wharf, "serve", "--stdio", "--session", "new", "--config", str(config), "--data", str(folder / "data")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        about = {"name": "guest_costs", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about})
        self._send({"method": "notifications/initialized"})
        # A call waits for the compiler, at most its own time.
        while self._call("text", {"text": "x"}).get("_meta", {}).get("dev.wharf/error", {}).get("code") == "timeout":
            pass

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.number += 1
        self._send({"id": self.number, "method": method, "params": parameters})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self.number:
                return message
        raise EOFError("the host ended")

    def milliseconds(self, tool: str, arguments: dict[str, Any], times: int) -> float:
        """The median time of a call."""
        taken = []
        for _ in range(times + 5):
            started = time.perf_counter()
            answer = self._call(tool, arguments)
            taken.append((time.perf_counter() - started) * 1_000)
            if answer.get("isError", True):
                raise SystemExit(f"{tool} failed: {answer}")
        # The first ones find nothing prepared.
        return statistics.median(taken[5:])

    def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        found = self.ask("tools/call", {"name": f"guest__{tool}", "arguments": arguments})
        result: dict[str, Any] = found.get("result", {})
        return result

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.process.stdin.flush()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main(wharf: str, components: list[str]) -> None:
    for name in components:
        component = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            served = Served(wharf, component, Path(folder))
            try:
                call = served.milliseconds("text", {"text": "x"}, CALLS)
                without = served.milliseconds("host_calls", {"count": 0}, 20)
                many = served.milliseconds("host_calls", {"count": HOST_CALLS}, 20)
            finally:
                served.close()
        microseconds = max(0.0, many - without) * 1_000 / HOST_CALLS
        mebibytes = component.stat().st_size / (1 << 20)
        print(f"{component.stem}: {mebibytes:.1f} MiB, a call {call:.2f} ms, a call of the host {microseconds:.2f} µs")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
