"""The workspace plugin, as an agent uses it that builds a small program."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from mcp import Client

from harness import HANDSHAKE, PATIENCE_SECONDS, CheckFailed, Host, RawServer, Report, call, context, refused, shorten, text_of

HEADER = """\
#ifndef FARE_H
#define FARE_H
int fare(const char *ship, int tons);
#endif
"""

# It names `tonnes`, which is not declared.
FARE = """\
#include <string.h>
#include "fare.h"

int fare(const char *ship, int tons)
{
    int base = strcmp(ship, "freighter") == 0 ? 100 : 20;
    return base + 3 * tonnes;
}
"""

MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "fare.h"

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: fare SHIP TONS\\n");
        return 2;
    }
    printf("%d\\n", fare(argv[1], atoi(argv[2])));
    return 0;
}
"""

TESTS = """\
#include <stdio.h>
#include "fare.h"

static int failures;

static void expect(const char *ship, int tons, int expected)
{
    int found = fare(ship, tons);
    printf("%s %s %d\\n", found == expected ? "ok" : "FAIL", ship, tons);
    failures += found != expected;
}

int main(void)
{
    expect("freighter", 10, 130);
    expect("sailboat", 0, 20);
    return failures != 0;
}
"""

# Not every machine that compiles has `make`.
BUILD = """\
set -e
mkdir -p out
cc -Wall -Werror -o out/fare src/main.c src/fare.c
cc -Wall -Werror -Isrc -o out/tests tests/fare_test.c src/fare.c
echo built
"""

PROJECT = {
    "src/fare.h": HEADER,
    "src/fare.c": FARE,
    "src/main.c": MAIN,
    "tests/fare_test.c": TESTS,
    "build.sh": BUILD,
}


class Shop:
    """One session's workspace over a connection."""

    def __init__(self, client: Client, meta: dict[str, Any]) -> None:
        self.client, self.meta = client, meta

    async def use(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """What a tool answers for programs, and what the model reads."""
        result = await call(self.client, f"workspace__{tool}", arguments, self.meta)
        if not isinstance(result.structured_content, dict):
            raise CheckFailed(f"{tool} has no structured answer: {shorten(text_of(result))}")
        return result.structured_content, text_of(result)

    async def refused(self, tool: str, **arguments: Any) -> tuple[str, str]:
        return await refused(self.client, f"workspace__{tool}", arguments, self.meta)


def configured(directory: Path) -> tuple[Path, Path]:
    """A configuration with an exchange folder, and that folder."""
    out = directory / "handed-over"
    out.mkdir(exist_ok=True)
    file = directory / "workspace.toml"
    file.write_text(
        "[plugin.workspace.grants.process]\nreason = \"a developer's own machine\"\nshell = true\n"
        "[plugin.workspace.grants.workspace]\nreason = \"a developer's own machine\"\n"
        f"exchange = [{{ name = \"handed-over\", path = '{out}', access = \"write\" }}]\n",
        encoding="utf-8",
    )
    return file, out


async def off(report: Report, host: Host, era: str) -> None:
    async with host.client(era) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        report.check(
            not any(name.startswith("workspace__") for name in names),
            f"{era}: without a grant there is no tool that runs commands",
            names,
        )


async def built(report: Report, host: Host, era: str) -> None:
    """A program is written, built, mended, tested, and handed over."""
    file, out = configured(host.data.parent)
    meta = context(f"{era}-workshop", "builder", "one")
    async with host.client(era, "--config", str(file)) as client:
        shop = Shop(client, meta)
        for path, content in PROJECT.items():
            await shop.use("write_file", path=path, content=content)
        listed, _ = await shop.use("list_directory", depth=2)
        found = sorted(entry["path"] for entry in listed["entries"] if entry["kind"] == "file")
        report.check(found == sorted(PROJECT), f"{era}: a project of five files is written", found)

        failed, text = await shop.use("execute_shell", command="sh build.sh", wait_seconds=120)
        holds = text.startswith("exit code 1\n") and "tonnes" in text and "src/fare.c:7" in text
        report.check(holds and failed["exit_code"] == 1, f"{era}: the compiler's error is seen, exit code first", text)

        hits, _ = await shop.use("search_files", pattern="tonnes", glob="*.c")
        lines = [(hit["path"], hit["line"]) for hit in hits["matches"]]
        report.check(lines == [("src/fare.c", 7)], f"{era}: a search finds the line", lines)
        edit = {"start_line": 7, "end_line": 7, "content": "    return base + 3 * tons;\n", "expect": "    return base + 3 * tonnes;\n"}
        _, text = await shop.use("replace_lines_in_file", path="src/fare.c", replacements=[edit])
        report.check("+    return base + 3 * tons;" in text, f"{era}: the line is replaced, and the change is shown", text)
        code, text = await shop.refused("replace_lines_in_file", path="src/fare.c", replacements=[edit])
        report.check(code == "conflict" or "conflict" in text, f"{era}: the same edit again is a conflict", (code, text))

        _, text = await shop.use("execute_shell", command="sh build.sh && out/tests", wait_seconds=120)
        report.check(
            text == "exit code 0\nstdout:\nbuilt\nok freighter 10\nok sailboat 0",
            f"{era}: it builds, and its tests pass",
            text,
        )
        await shop.use("export_file", path="out/fare", exchange="handed-over", to=f"{era}/fare", overwrite=True)
        handed = out / era / "fare"
        report.check(handed.read_bytes()[:4] == b"\x7fELF", f"{era}: the program is handed over to the operator's folder")

        stranger = Shop(client, context(f"{era}-stranger", "builder", "one"))
        listed, _ = await stranger.use("list_directory")
        processes, _ = await stranger.use("list_processes")
        found = (listed["entries"], processes["total"])
        report.check(found == ([], 0), f"{era}: another session sees neither files nor processes", found)

    async with host.client(era, "--config", str(file)) as client:
        shop = Shop(client, meta)
        _, text = await shop.use("execute_shell", command="out/fare sailboat 5")
        report.check(text == "exit code 0\nstdout:\n35", f"{era}: after a restart the files are still there and run", text)
        listed, text = await shop.use("list_processes")
        codes = [process.get("exit_code") for process in listed["processes"]]
        report.check(codes == [0, 0, 1], f"{era}: and so are the processes of before, with their exit codes", text)


async def followed(report: Report, host: Host, era: str) -> None:
    """A long command is waited for, polled too often, and a stubborn one is stopped."""
    file, _ = configured(host.data.parent)
    async with host.client(era, "--config", str(file)) as client:
        shop = Shop(client, context(f"{era}-follow"))
        server = "echo starting; read port; echo \"listening on $port\"; sleep 1000"
        started, text = await shop.use("execute_shell", command=server, run_mode="async", input=True)
        process = started["process_id"]
        report.check(started["still_running"] and process in text, f"{era}: a server is started and gets an id", text)
        await shop.use("write_process_input", process_id=process, text="8080")
        waited, text = await shop.use(
            "wait_for_process", process_id=process, until={"pattern": r"listening on \d+"}, wait_seconds=60
        )
        found = (waited["wait_ended"], waited.get("matched", {}).get("text"))
        report.check(found == ("pattern", "listening on 8080"), f"{era}: a wait ends with the line it waits for", text)

        guided = []
        for _ in range(6):
            polled, text = await shop.use("poll_process", process_id=process)
            if "guidance" in polled:
                guided.append((polled["guidance"], text))
        holds = len(guided) == 1 and guided[0][0]["polls"] == 5 and guided[0][1].endswith(guided[0][0]["text"])
        report.check(holds, f"{era}: who polls too often is advised once, with the fifth poll", guided)
        holds = holds and "_process" not in guided[0][0]["text"]
        report.check(holds, f"{era}: the advice names no tool", guided)
        await shop.use("stop_process", process_id=process, grace_seconds=0)

        stubborn = "trap '' TERM HUP INT; setsid sleep 1000 & echo ready; while :; do sleep 1000; done"
        started, _ = await shop.use("execute_shell", command=stubborn, run_mode="async")
        process = started["process_id"]
        await shop.use("wait_for_process", process_id=process, until={"pattern": "ready"}, wait_seconds=60)
        stopped, text = await shop.use("stop_process", process_id=process, grace_seconds=1)
        holds = text.startswith("killed (user)") and not stopped["still_running"] and "living_descendants" not in stopped
        report.check(holds, f"{era}: a stubborn one is killed with all that it started", text)


def living(mark: str) -> list[str]:
    """The command lines of living processes in which something stands."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace") if entry.name.isdigit() else ""
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


def until(is_so: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise CheckFailed(f"waited in vain until {what}")
        time.sleep(0.01)


async def killed(report: Report, host: Host) -> None:
    file, _ = configured(host.data.parent)
    meta = context("killed-workshop")
    # No other process sleeps so long.
    mark = f"sleep {3_000_000 + os.getpid()}"
    server = RawServer(host, "--config", str(file))
    try:
        server.handshake()
        command = f"echo begun > file; echo begun; trap '' TERM HUP; setsid {mark}.1 & {mark}.2; {mark}.2"
        arguments = {"command": command, "run_mode": "async"}
        answer = server.call("workspace__execute_shell", arguments, meta)
        process = answer.get("result", {}).get("structuredContent", {}).get("process_id")
        report.check(process is not None, "a command runs that ignores what would end it", answer)
        until(lambda: living(f"{mark}.1") and living(f"{mark}.2"), "both of its processes run")
    finally:
        server.kill()
    until(lambda: not living(mark), "nothing of it lives")
    report.check(True, "nothing that was started outlives a server that is killed")
    async with host.client(HANDSHAKE, "--config", str(file)) as client:
        shop = Shop(client, meta)
        polled, text = await shop.use("poll_process", process_id=process)
        found = (polled["status"], polled.get("ended_because"), polled["stdout"]["text"])
        report.check(found == ("killed", "host-lost", "begun\n"), "the next server lists it as lost, with its output", text)
        read, _ = await shop.use("read_file", path="file")
        report.check(read["text"] == "begun\n", "and the files of the session are there", read)
