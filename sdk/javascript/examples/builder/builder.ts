// Compiles a C file of the session's workspace with `cc`, and follows the compiler to its end.

import { plugin, reply, tool, Type, type Call } from "@wharf/sdk";
import { progress } from "@wharf/sdk/events";
import { follow, spawn, textOf, type Info } from "@wharf/sdk/process";

/** What a model can take of a compiler's output, in bytes. */
const LONGEST_OUTPUT = 65_536;

/** What one call tells of a build. */
const Build = Type.Object({
  id: Type.String({ description: "The build, for `follow`." }),
  status: Type.String({ description: "`running`, `finished`, `failed` or `killed`." }),
  exit_code: Type.Optional(Type.Integer({ description: "The compiler's, once it has ended." })),
  output: Type.String({ description: "What the compiler printed since `from`." }),
  next: Type.Integer({ description: "Where its output goes on." }),
});

/** Follows the compiler from a place in its output on, until it ends or this call has to answer. */
function followed(call: Call, id: string, from: number) {
  const pieces = follow(id, "stderr", { from, maxBytes: LONGEST_OUTPUT });
  let output = "";
  let next = from;
  let process: Info;
  for (;;) {
    const step = pieces.next();
    if (step.done === true) {
      process = step.value;
      break;
    }
    output = (output + textOf(step.value)).slice(-LONGEST_OUTPUT);
    next = step.value.next;
    tell(call, next);
  }
  const code = process.outcome?.code;
  const text = code === undefined ? `The build is ${process.status}.` : `cc ended with code ${code}.`;
  return reply(`${text}\n${output}`.trimEnd(), {
    id,
    status: process.status,
    ...(code === undefined ? {} : { exit_code: code }),
    output,
    next,
  });
}

/** A build goes on where its news cannot be told. */
function tell(call: Call, bytes: number): void {
  try {
    progress(bytes, undefined, `the compiler printed ${bytes} bytes`);
  } catch (error) {
    call.log("debug", `progress was not told: ${error}`);
  }
}

const build = tool(
  {
    name: "build",
    title: "Build",
    description: "Compiles a C file of the workspace into a program beside it, and answers what the compiler said.",
    input: Type.Object(
      {
        file: Type.String({
          description: "The file, relative to the workspace, such as `hello.c`.",
          pattern: "^[A-Za-z0-9_][A-Za-z0-9._/-]*\\.c$",
          maxLength: 200,
        }),
      },
      { additionalProperties: false },
    ),
    output: Build,
    timeoutMilliseconds: 120_000,
  },
  (call, { file }) => followed(call, spawn("cc", ["-Wall", "-o", file.replace(/\.c$/, ""), file]), 0),
);

const again = tool(
  {
    name: "follow",
    title: "Follow a build",
    description: "Follows a build that was still running when `build` answered.",
    input: Type.Object(
      {
        id: Type.String({ description: "As `build` answered it.", minLength: 1, maxLength: 200 }),
        from: Type.Optional(Type.Integer({ description: "As `next` of the answer before.", minimum: 0 })),
      },
      { additionalProperties: false },
    ),
    output: Build,
    readOnly: true,
    timeoutMilliseconds: 120_000,
  },
  (call, { id, from = 0 }) => followed(call, id, from),
);

export default plugin({ tools: [build, again] });
