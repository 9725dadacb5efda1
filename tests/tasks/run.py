#!/usr/bin/env python3
"""Carries out 20 fixed tasks with a scripted agent that chooses tools by their list alone.

Usage: run.py [PATH_OF_WHARF] [--config FILE] [--json] [--before FILE]

The path may come from the environment variable WHARF, too. `--json` prints figures that `--before` compares with
later. With `--before`, a task that got harder is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from agent import Index, fill
from server import Server, ServerGone
from tasks import TASKS, Task

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients"))

from site_of_harbour import Site  # noqa: E402

PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome-stable")
INVALID_PARAMS = -32602
NOT_TESTED = "NOT TESTED: there is no Chromium on this machine"
SIZES = ("text_lines", "text_characters", "structured_characters", "result_characters")


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def known(value: Any, told: dict[str, Any]) -> Any:
    """A fact with what earlier answers told in place of `<name>`."""
    if isinstance(value, str):
        whole = re.fullmatch(r"<(\w+)>", value)
        return told.get(whole.group(1), value) if whole else value
    if isinstance(value, list):
        return [known(part, told) for part in value]
    if isinstance(value, dict):
        return {name: known(part, told) for name, part in value.items()}
    return value


def member(value: Any, path: str) -> Any:
    """What stands at the end of a path, or nothing."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


class NotPrepared(Exception):
    """What a task needs is not there."""


class Answer:
    """What a call came to."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.result = message.get("result", {})
        blocks = self.result.get("content", [])
        self.text = "\n".join(block["text"] for block in blocks if block.get("type") == "text")
        self.structured = self.result.get("structuredContent")
        self.error = message.get("error", {}).get("message") or (self.text if self.result.get("isError") else None)
        code = self.result.get("_meta", {}).get("dev.wharf/error", {}).get("code")
        self.is_invalid = code == "invalid" or message.get("error", {}).get("code") == INVALID_PARAMS

    def lacks(self, task: Task, told: dict[str, Any]) -> str | None:
        """What a task asks of its answer and is not so."""
        if self.error is not None:
            return self.error.splitlines()[0]
        for pattern in task.text:
            pattern = known(pattern, told)
            if not re.search(pattern, self.text):
                return f"no `{pattern}` in the text"
        for path, expected in task.structured.items():
            if (found := member(self.structured, path)) != expected:
                return f"`{path}` is {found!r}, not {expected!r}"
        return None


class Run:
    """One run of all tasks in one session."""

    def __init__(self, server: Server, site: str, has_browser: bool) -> None:
        self.server, self.has_browser = server, has_browser
        self.tools, self.list_bytes = server.tools_with({task.tool for task in TASKS})
        self.index = Index(self.tools)
        self.told: dict[str, Any] = {"site": f"{site}/login"}

    def prepare(self, task: Task) -> None:
        preparation = task.preparation
        if preparation is None:
            return
        answer = Answer(self.server.call(preparation.tool, preparation.arguments))
        if answer.error is not None:
            raise NotPrepared(f"{task.name}: {preparation.tool} failed: {answer.error}")
        for name, path in preparation.learn.items():
            self.told[name] = member(answer.structured, path)

    def carry_out(self, task: Task) -> dict[str, Any]:
        is_tested = self.has_browser or not task.tool.startswith("browser__")
        if is_tested:
            self.prepare(task)
        facts = known(task.facts, self.told)
        ranked = [self.index.ranked(request, facts) for request in (task.request, *task.other_words)]
        ranks = [names.index(task.tool) + 1 for names in ranked]
        row = {"task": task.name, "tool": task.tool, "chosen": ranked[0][0], "ranks": ranks}
        if not is_tested:
            return row | {"why": NOT_TESTED}
        arguments, filled = fill(facts, self.index.schemas[task.tool])
        # The wrong tool is not called: it might undo what later tasks need. Of the right one we see the rest.
        answer = Answer(self.server.call(task.tool, arguments))
        for name, pattern in task.learn.items():
            if found := re.search(pattern, answer.text):
                self.told[name] = int(found.group(1)) if found.group(1).isdigit() else found.group(1)
        fitted = not answer.is_invalid and not filled.missing and not filled.left_over
        lacks = answer.lacks(task, self.told)
        row |= {
            "fitted": fitted,
            "passed": lacks is None,
            "solved": ranks[0] == 1 and fitted and lacks is None,
            "text_lines": len(answer.text.splitlines()),
            "text_characters": len(answer.text),
            "structured_characters": len(compact(answer.structured)) if answer.structured is not None else 0,
            "result_characters": len(compact(answer.result)),
        }
        if not fitted:
            row["why"] = f"missing {filled.missing}, no place for {filled.left_over}: {answer.error}"
        elif lacks is not None:
            row["why"] = lacks
        elif ranks[0] != 1:
            row["why"] = f"it chose {row['chosen']}"
        return row


def totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    ranks = [rank for row in rows for rank in row["ranks"]]
    sums = {name: sum(row.get(name, 0) for row in rows) for name in SIZES}
    return {
        "tasks": len(rows),
        "chosen_right": sum(row["ranks"][0] == 1 for row in rows),
        "fitted": sum(row.get("fitted", False) for row in rows),
        "passed": sum(row.get("passed", False) for row in rows),
        "solved": sum(row.get("solved", False) for row in rows),
        "requests": len(ranks),
        "first_of_all_requests": sum(rank == 1 for rank in ranks),
        "among_three_of_all_requests": sum(rank <= 3 for rank in ranks),
        "mean_reciprocal_rank": round(sum(1 / rank for rank in ranks) / len(ranks), 4),
        **sums,
    }


def measured(binary: Path, options: list[str]) -> dict[str, Any]:
    has_browser = any(shutil.which(program) for program in PROGRAMS)
    with tempfile.TemporaryDirectory(prefix="wharf-tasks-") as folder, Site() as site:
        server = Server(binary, Path(folder), *options)
        try:
            with server:
                run = Run(server, site.address, has_browser)
                rows = [run.carry_out(task) for task in TASKS]
        except (NotPrepared, ServerGone):
            print(server.log.read_text(encoding="utf-8", errors="replace")[-4_000:], file=sys.stderr)
            raise
        return {"list_bytes": run.list_bytes, "tools": len(run.tools), "totals": totals(rows), "tasks": rows}


def harder(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The tasks that were easier before, and how."""
    found = []
    earlier = {row["task"]: row for row in before["tasks"]}
    requests = {task.name: (task.request, *task.other_words) for task in TASKS}
    for row in after["tasks"]:
        was = earlier.get(row["task"])
        if was is None:
            continue
        for now, then, request in zip(row["ranks"], was["ranks"], requests[row["task"]]):
            if now > then:
                found.append(f"{row['task']}: {row['tool']} has rank {now}, and had {then}: {request}")
        for what in ("fitted", "passed"):
            if was.get(what) and row.get("why") != NOT_TESTED and not row.get(what):
                found.append(f"{row['task']}: it {what} before, and does not now: {row.get('why')}")
    return found


def print_table(after: dict[str, Any], before: dict[str, Any] | None) -> None:
    earlier = {row["task"]: row for row in before["tasks"]} if before else {}
    names = ("ranks", "fits", "passes", "text", "structured", "result")
    print("task          " + "".join(f"{name:>22}" if before else f"{name:>12}" for name in names))

    def cell(was: Any, now: Any) -> str:
        return f"{f'{was} -> {now}':>22}" if before else f"{now!s:>12}"

    def cells(row: dict[str, Any]) -> list[str]:
        holds = [{True: "yes", False: "no"}.get(row.get(what), "-") for what in ("fitted", "passed")]
        sizes = [str(row.get(f"{what}_characters", "-")) for what in ("text", "structured", "result")]
        return [",".join(map(str, row.get("ranks", []))) or "-", *holds, *sizes]

    for row in after["tasks"]:
        was = cells(earlier.get(row["task"], {}))
        print(f"{row['task']:<14}" + "".join(cell(*pair) for pair in zip(was, cells(row))))
        if "why" in row:
            print(f"              {row['why']}")
    print()
    overall = {"list_bytes": after["list_bytes"], "tools": after["tools"], **after["totals"]}
    overall_before = {"list_bytes": before["list_bytes"], "tools": before["tools"], **before["totals"]} if before else {}
    for name, value in overall.items():
        print(f"{name:<32}" + cell(overall_before.get(name, "-"), value))


def main() -> int:
    parser = argparse.ArgumentParser(description="Carries out 20 fixed tasks with a scripted agent.")
    parser.add_argument("binary", nargs="?", default=os.environ.get("WHARF"), help="the built wharf (or WHARF)")
    parser.add_argument("--config", help="a wharf.toml, for other plugins or other lists")
    parser.add_argument("--profile", default="developer", help="what bundled plugins may use (developer)")
    parser.add_argument("--json", action="store_true", help="print figures for machines")
    parser.add_argument("--before", type=Path, help="figures of an earlier run to compare with")
    options = parser.parse_args()
    if not options.binary:
        parser.error("name the binary, or set WHARF")
    before = json.loads(options.before.read_text(encoding="utf-8")) if options.before else None
    more = ["--profile", options.profile, *(["--config", options.config] if options.config else [])]
    after = measured(Path(options.binary).resolve(), more)
    if options.json:
        print(json.dumps(after, ensure_ascii=False, indent=1))
    else:
        print_table(after, before)
    found = harder(before, after) if before else []
    for line in found:
        print(f"HARDER  {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
