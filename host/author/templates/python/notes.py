"""A tool with files: the workspace is the directory of the caller's session."""

import os
from dataclasses import dataclass
from typing import Annotated

from wharf_sdk import Call, Field, Reply, ToolError, tool


@dataclass
class Note:
    text: Annotated[str, Field("What to write down.", min_length=1, max_length=10_000)]


@dataclass
class Noted:
    path: Annotated[str, "The file, relative to the workspace."]
    bytes: Annotated[int, "Its bytes."]


@tool(title="Write a note")
def write_note(call: Call, input: Note) -> Reply[Noted]:
    """Writes a note into the workspace of the session, in place of the one before."""
    files = call.workspace.create()
    path = "note.txt"
    try:
        with open(os.path.join(files.path, path), "w", encoding="utf-8") as file:
            file.write(input.text)
    except OSError as error:
        raise ToolError.unavailable(f"`{path}` cannot be written: {error.strerror}") from error
    return Reply(f"Wrote {path}.", Noted(path, len(input.text.encode())))
