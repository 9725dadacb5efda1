// A shell in a terminal, a page whose results come in pieces, and a process that is written to.

import { answer, content, plugin, tool, ToolError, Type } from "@wharf/sdk";
import { closeInput, follow, spawn, stop, textOf, wait, write } from "@wharf/sdk/process";
import { ask, close as closeTerminal, screen, startShell } from "@wharf/sdk/terminal";
import { close, entries, navigate, open, run, screenshot } from "@wharf/sdk/webview";

const shell = tool({ name: "shell", description: "Asks a shell for a sum." }, () => {
  const { terminal } = startShell({ columns: 100 });
  const { turn, text } = ask(terminal.id, "echo sum $((6 * 7)) grüß");
  const { lines, columns } = screen(terminal.id, 0);
  const closed = closeTerminal(terminal.id, 1_000);
  return JSON.stringify({ text, reason: turn.complete?.reason, columns, seen: lines.join("\n").includes("sum 42"), status: closed.status });
});

const page = tool({ name: "page", description: "Looks at a page.", input: Type.Object({ url: Type.String() }) }, (_call, { url }) => {
  const { id } = open({ width: 320, height: 200, locale: "de-DE" });
  try {
    navigate(id, url);
    // More than the host sends at once, so that the rest is fetched.
    const long = run<string>(id, "'ü'.repeat(1500000)");
    const thrown = codeOf(() => run(id, "throw new Error('no')"));
    const picture = screenshot(id);
    const network = entries(id, "network").entries.length;
    const seen = { length: long.length, whole: long.startsWith("üüü") && long.endsWith("üüü"), thrown, type: picture.mimeType, network: network > 0 };
    return answer({ content: [JSON.stringify(seen), content(picture.mimeType, picture.data)] });
  } finally {
    close(id);
  }
});

const input = tool({ name: "input", description: "Writes to a process." }, () => {
  const id = spawn("cat", [], { input: true, lifetimeMilliseconds: 20_000 });
  const written = write(id, "eins\nzwei grüß\n");
  const { reason, found } = wait(id, { pattern: [{ stream: "stdout", cursor: 0 }, "^zwei"] }, 10_000);
  closeInput(id);
  const pieces = follow(id, "stdout");
  let text = "";
  let step = pieces.next();
  for (; step.done !== true; step = pieces.next()) text += textOf(step.value);
  const gone = codeOf(() => write(id, "more"));
  return JSON.stringify({ written, reason, found, text, code: step.value.outcome?.code, gone, again: stop(id, 0).status });
});

function codeOf(act: () => unknown): string {
  try {
    act();
    return "nothing";
  } catch (error) {
    return error instanceof ToolError ? error.code : String(error);
  }
}

export default plugin({ tools: [shell, page, input] });
