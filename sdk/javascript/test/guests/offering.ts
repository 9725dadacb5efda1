// What a plugin offers beside tools, and a round of input.

import { form, inputRequired, plugin, tool, ToolError } from "@wharf/sdk";
import { completion } from "@wharf/sdk/completion";
import { message, progress } from "@wharf/sdk/events";
import { prompt, prompts } from "@wharf/sdk/prompts";
import { resources } from "@wharf/sdk/resources";
import { settings } from "@wharf/sdk/settings";

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const ask = tool({ name: "ask", description: "Asks who is there." }, (call) => {
  const filled = call.input.form("who");
  return filled === undefined ? inputRequired({ who: form("Who is there?", schema) }) : `${settings({ greeting: "Hello" }).greeting}, ${filled.name}!`;
});

const tell = tool({ name: "tell", description: "Tells how far it is." }, () => {
  progress(1, 2, "half");
  message("info", { half: true });
  return "told";
});

export default plugin({
  tools: [ask, tell],
  prompts: prompts(
    prompt({ name: "review", description: "Asks for a review.", arguments: { path: { description: "The file." } } }, (_call, { path }) => `Review ${path}.`),
  ),
  resources: resources({
    claims: ["manual://"],
    list: () => [{ uri: "manual://1", name: "Casting off", mimeType: "text/plain" }],
    read: (_call, uri) => {
      if (uri !== "manual://1") throw ToolError.notFound("there is no such chapter");
      return "Let go forward.";
    },
  }),
  completion: completion((_call, { text }) => ["hello.c", "world.c"].filter((path) => path.startsWith(text))),
});
