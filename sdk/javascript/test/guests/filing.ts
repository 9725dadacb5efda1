// Files of the workspace, from the first to the last.

import { plugin, tool, ToolError } from "@wharf/sdk";
import { bucket } from "@wharf/sdk/state";
import { listDirectory, makeDirectory, readFile, readText, removeDirectory, removeFile, writeFile } from "@wharf/sdk/files";

function codeOf(act: () => unknown): string {
  try {
    act();
    return "nothing";
  } catch (error) {
    return error instanceof ToolError ? error.code : String(error);
  }
}

const file = tool({ name: "file", description: "Makes, reads and removes files." }, () => {
  writeFile("note.txt", "grüß");
  writeFile("note.txt", "kurz");
  makeDirectory("folder");
  writeFile("folder/large", new Uint8Array(8_388_608).fill(7));
  const large = readFile("folder/large");
  // More often than a call may have handles.
  for (let round = 0; round < 1_500; round++) readText("note.txt");
  for (let round = 0; round < 1_500; round++) bucket("session", "notes").close();
  const seen = {
    text: readText("note.txt"),
    large: [large.length, large.at(-1)],
    listed: listDirectory().map(({ name, type }) => `${name} ${type}`).sort(),
    missing: codeOf(() => readText("nothing")),
    outside: codeOf(() => readText("../../etc/passwd")),
    absolute: codeOf(() => readText("/etc/passwd")),
    again: codeOf(() => makeDirectory("folder")),
    full: codeOf(() => removeDirectory("folder")),
    directory: codeOf(() => readText("folder")),
    number: codeOf(() => readText(7 as unknown as string)),
  };
  removeFile("folder/large");
  removeDirectory("folder");
  return JSON.stringify({ ...seen, left: listDirectory().map(({ name }) => name) });
});

export default plugin({ tools: [file] });
