// A tool with files: the workspace is the directory of the caller's session.

import { Type, reply, tool } from "@wharf/sdk";
import { writeFile } from "@wharf/sdk/files";
import { create } from "@wharf/sdk/workspace";

export const writeNote = tool(
  {
    name: "write_note",
    title: "Write a note",
    description: "Writes a note into the workspace of the session, in place of the one before.",
    input: Type.Object(
      { text: Type.String({ description: "What to write down.", minLength: 1, maxLength: 10_000 }) },
      { additionalProperties: false },
    ),
    output: Type.Object({
      path: Type.String({ description: "The file, relative to the workspace." }),
      bytes: Type.Integer({ description: "Its bytes." }),
    }),
  },
  (_call, { text }) => {
    create();
    const path = "note.txt";
    const data = new TextEncoder().encode(text);
    writeFile(path, data);
    return reply(`Wrote ${path}.`, { path, bytes: data.length });
  },
);
