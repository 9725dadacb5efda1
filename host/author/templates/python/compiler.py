"""A tool that starts a program, which the operator granted by name, and waits for its end."""

from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Reply, tool


@dataclass
class Compiler:
    version: Annotated[str, "The first line that the compiler prints."]


@tool(title="Show the compiler", read_only=True, idempotent=True)
def compiler_version(call: Call) -> Reply[Compiler]:
    """Tells which C compiler the host has."""
    process = call.processes.spawn("cc", ["--version"])
    call.processes.wait_for_exit(process, 10_000)
    output = call.processes.read_all(process, "stdout", 4_096).decode("utf-8", "replace")
    version = output.splitlines()[0] if output else ""
    return Reply(version, Compiler(version))
