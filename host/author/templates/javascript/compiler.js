// A tool that starts a program, which the operator granted by name, and waits for its end.

import { Type, reply, tool } from "@wharf/sdk";
import { run } from "@wharf/sdk/process";

export const compilerVersion = tool(
  {
    name: "compiler_version",
    title: "Show the compiler",
    description: "Tells which C compiler the host has.",
    readOnly: true,
    idempotent: true,
    input: Type.Object({}, { additionalProperties: false }),
    output: Type.Object({ version: Type.String({ description: "The first line that the compiler prints." }) }),
  },
  () => {
    const version = run("cc", ["--version"], { milliseconds: 10_000 }).stdout.split("\n")[0] ?? "";
    return reply(version, { version });
  },
);
