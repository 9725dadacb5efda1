"""A builder that runs `cc` on a file of the session's workspace and follows it to its end."""

import os
from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, ToolError, plugin, tool
from wharf_sdk.process import Condition, Launch

LONGEST_BUILD_MILLISECONDS = 60_000
MAXIMUM_OUTPUT_BYTES = 65_536
NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"


@dataclass
class Source:
    file: Annotated[str, Field("The file to write, such as `main.c`.", pattern=NAME, max_length=100)]
    text: Annotated[str, Field("What it holds.", max_length=100_000)]


@dataclass
class Build:
    file: Annotated[str, Field("The C file of the workspace to compile.", pattern=NAME, max_length=100)]
    program: Annotated[str, Field("The program to make of it.", pattern=NAME, max_length=100)] = "a.out"
    warnings: Annotated[bool, "Whether to ask the compiler for all warnings."] = True


@dataclass
class Built:
    exit_code: Annotated[int | None, "The compiler's exit code; null where a signal ended it."]
    output: Annotated[str, "What the compiler said."]
    program: Annotated[str | None, "Where the program is, for processes; null where there is none."]


@tool(title="Write a source file", destructive=True, idempotent=True, open_world=False)
def write_source(call: Call, input: Source) -> str:
    """Writes a file into the session's workspace, in place of the one that was there."""
    directory = call.workspace.create()
    try:
        with open(os.path.join(directory.path, input.file), "w", encoding="utf-8") as file:
            file.write(input.text)
    except OSError as error:
        raise ToolError.unavailable(f"`{input.file}` cannot be written: {error.strerror}") from error
    return f"Wrote {len(input.text.encode()):,} bytes to {input.file}."


@tool(title="Compile a C file", idempotent=True, open_world=False, timeout_milliseconds=LONGEST_BUILD_MILLISECONDS)
def build(call: Call, input: Build) -> Reply[Built]:
    """Compiles a C file of the session's workspace with `cc`. A compiler's complaint is an answer, not an error."""
    directory = call.workspace.files()
    if not os.path.isfile(os.path.join(directory.path, input.file)):
        raise ToolError.not_found(f"there is no `{input.file}` in the workspace; write it first")
    processes = call.processes
    # Names cannot begin with a dash, so none of them is an option.
    flags = ["-Wall", "-Wextra"] if input.warnings else []
    arguments = [*flags, "-o", input.program, input.file]
    id = processes.spawn("cc", arguments, Launch(lifetime_milliseconds=LONGEST_BUILD_MILLISECONDS))

    # Without `exit`, the wait ends once both streams have ended too, so nothing of the output is missed.
    waited = processes.wait(id, Condition(), call.remaining_milliseconds)
    if waited.reason == "time-up":
        processes.stop(id, 0)
        raise ToolError.timeout("the compiler did not end in time and was stopped")
    said = processes.read_all(id, "stderr", MAXIMUM_OUTPUT_BYTES) + processes.read_all(
        id, "stdout", MAXIMUM_OUTPUT_BYTES
    )
    outcome = waited.process.outcome
    code = outcome.code if outcome else None
    output = said.decode("utf-8", "replace")
    if code == 0:
        return Reply(
            f"Made {input.program}.\n{output}".rstrip(), Built(0, output, f"{directory.shown}/{input.program}")
        )
    return Reply(f"The compiler failed with {code}.\n{output}".rstrip(), Built(code, output, None))


PLUGIN = plugin(
    write_source,
    build,
    reasons={"process": "runs the C compiler `cc`", "workspace": "writes source files, for the compiler to read"},
)
Tools = PLUGIN.Tools
