#!/usr/bin/env python3
"""Feeds every route of `wharf serve --http` with what schemathesis makes of its description.

Usage: feed.py [--minutes N]     (the environment variable WHARF names the binary)

Whatever comes, the host answers as its description says, and never with a status of 500 or more.
Without minutes it is a short run that is the same each time.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 60
# What all of it may take beside the minutes that were asked for.
MORE_SECONDS = 600
SEED = 7
# Programs that fuzzed input cannot make do anything.
CONFIGURATION = """
[http.limits]
heartbeat_milliseconds = 500
requests_per_second = 100000
[plugin.host.grants.terminal]
reason = "the routes are fed"
programs = ["cat"]
[plugin.host.grants.webview]
reason = "the routes are fed"
"""
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
    "unsupported_method",
]
SESSION = "fed"


class Host:
    """A host that serves on a free port, and what it says meanwhile."""

    def __init__(self, binary: str, folder: Path) -> None:
        data, file = folder / "data", folder / "wharf.toml"
        file.write_text(CONFIGURATION, encoding="utf-8")
        command = [binary, "serve", "--http", "127.0.0.1:0", "--data", str(data), "--config", str(file)]
        self.log: list[str] = []
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"http://(127\.0\.0\.1:\d+)", line):
                self.address = found.group(1)
                break
        else:
            raise SystemExit("the host does not serve:\n" + "".join(self.log))
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        self.token = (data / "http-token").read_text(encoding="utf-8").strip()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)
        headers = {"Authorization": f"Bearer {self.token}", "Wharf-Session": SESSION, "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            told = answer.read()
            if answer.status >= 300:
                raise SystemExit(f"{method} {path}: {answer.status} {told!r}")
            return json.loads(told)
        finally:
            connection.close()


# Those that would close what the others need take any id.
WITH_TERMINAL = ["beginTurn", "pressKeys", "cancelTurn", "resizeTerminal", "readScreen", "readOutput"]
WITH_STREAM = ["readStream"]
WITH_PAGE = ["getPage", "executeScript", "performOperation", "answerDialog", "readPageLog", "listPageRequests"]
WITH_REQUEST = ["pollPageRequest", "readPageResult", "cancelPageRequest"]


def settings(host: Host) -> str:
    """What schemathesis cannot find out by itself: whose terminal there is."""
    terminal = host.ask("POST", "/v1/terminals", {"program": "cat"})
    lines = ["[parameters]", f'"header.wharf-session" = "{SESSION}"']
    for operations, name in ((WITH_TERMINAL, "terminal"), (WITH_STREAM, "stream")):
        for operation in operations:
            lines += ["[[operations]]", f'include-operation-id = "{operation}"']
            # A request may wait for a minute; thousands may not.
            wait = ', "query.wait_ms" = 0' if operation in ("readOutput", "readStream") else ""
            lines += [f'parameters = {{ "path.{name}" = "{terminal[name]}"{wait} }}']
    page = host.ask("POST", "/v1/pages", {})["page"]
    request = host.ask("POST", f"/v1/pages/{page}/scripts", {"script": "1 + 1"})["request"]
    for operation in WITH_PAGE + WITH_REQUEST:
        parameters = [f'"path.page" = "{page}"']
        if operation in WITH_REQUEST:
            parameters.append(f'"path.request" = "{request}"')
        if operation == "pollPageRequest":
            parameters.append('"query.wait_ms" = 0')
        if operation == "readPageLog":
            parameters.append('"path.log" = "console"')
        lines += ["[[operations]]", f'include-operation-id = "{operation}"']
        lines += [f"parameters = {{ {', '.join(parameters)} }}"]
    # What is followed or watched goes on for as long as its program does; schemathesis would find it in other answers.
    for operation, name in (("followStream", "stream"), ("watchTerminal", "terminal")):
        lines += ["[[operations]]", f'include-operation-id = "{operation}"', f'parameters = {{ "path.{name}" = "nobodys" }}']
    return "\n".join(lines) + "\n"


def feed(host: Host, folder: Path, minutes: int | None) -> int:
    file = folder / "schemathesis.toml"
    file.write_text(settings(host), encoding="utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(file), "run"]
    command += [f"http://{host.address}/v1/openapi.json", "--header", f"Authorization: Bearer {host.token}"]
    command += ["--checks", ",".join(CHECKS), "--request-timeout", str(PATIENCE_SECONDS), "--no-color"]
    command += ["--suppress-health-check", "all", "--warnings", "off"]
    if minutes is None:
        command += ["--phases", "examples,coverage,fuzzing", "--max-examples", "15", "--seed", str(SEED)]
        # Keeps no database of what was found before.
        command += ["--generation-deterministic"]
    else:
        command += ["--max-time", str(minutes * 60), "--continue-on-failure", "--generation-database", "none"]
    try:
        return subprocess.run(command, cwd=folder, check=False, timeout=MORE_SECONDS + 60 * (minutes or 0)).returncode
    except subprocess.TimeoutExpired:
        raise SystemExit("schemathesis does not end: a request is not answered") from None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=int)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory() as folder:
        host = Host(os.environ["WHARF"], Path(folder))
        try:
            code = feed(host, Path(folder), minutes)
            host.ask("GET", "/v1/terminals")
            host.process.send_signal(signal.SIGTERM)
            ended = host.process.wait(PATIENCE_SECONDS)
        finally:
            host.process.kill()
            host.process.wait()
    said = [line for line in host.log if "panicked" in line or " ERROR " in line]
    if code != 0 or ended != 0 or said:
        raise SystemExit(f"schemathesis ended with {code}, the host with {ended}; the host said:\n{''.join(said)}")


if __name__ == "__main__":
    main()
