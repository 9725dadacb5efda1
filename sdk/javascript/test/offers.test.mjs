import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeUtf8, form, Input, inputRequired, model, plugin, roots, tool, ToolError } from "@wharf/sdk";
import { completion } from "@wharf/sdk/completion";
import { prompt, prompts } from "@wharf/sdk/prompts";
import { resources } from "@wharf/sdk/resources";
import { TestHost } from "@wharf/sdk/testing";

const review = prompt(
  { name: "review", title: "Review", description: "Asks for a review.", arguments: { path: { description: "The file." }, tone: { description: "How.", required: false } } },
  (_call, { path, tone }) => (tone === undefined ? `Review ${path}.` : [{ role: "assistant", content: tone }, { role: "user", content: path }]),
);

const made = plugin({
  prompts: prompts(review),
  resources: resources({
    claims: ["manual://"],
    templates: [{ uriTemplate: "manual://chapters/{number}", name: "Chapters" }],
    list: () => [{ uri: "manual://chapters/1", name: "Casting off", mimeType: "text/plain", meta: { size: 7 } }],
    read: (_call, uri) => {
      if (uri !== "manual://chapters/1") throw ToolError.notFound("there is no such chapter");
      return "Let go.";
    },
  }),
  completion: completion((_call, { argument, text }) => (argument === "path" ? ["a.c", "b.c"].filter((path) => path.startsWith(text)) : { values: [], total: 7, hasMore: true })),
});

test("a prompt has its arguments in order, and becomes messages", async () => {
  const host = new TestHost();
  const [listed] = host.enter(() => made.prompts.listPrompts());
  assert.deepEqual(listed.arguments.map(({ name, required }) => [name, required]), [["path", true], ["tone", false]]);
  assert.equal(listed.meta, '{"title":"Review"}');
  const { messages } = await host.prompt(made, "review", { path: "a.c" });
  assert.deepEqual(messages.map(({ role, data }) => [role, decodeUtf8(data)]), [["user", "Review a.c."]]);
  assert.equal((await host.prompt(made, "review", { path: "a.c", tone: "calm" })).messages.length, 2);
  await assert.rejects(host.prompt(made, "other"), { code: "not-found" });
  assert.throws(() => prompts(review, review), { code: "invalid" });
});

test("resources are listed and read, and an unknown one is `not-found`", async () => {
  const host = new TestHost();
  host.enter(() => {
    assert.deepEqual(made.resources.claims(), ["manual://"]);
    assert.equal(made.resources.listTemplates()[0].description, "");
    assert.equal(made.resources.listResources()[0].meta, '{"size":7}');
  });
  const { parts } = await host.read(made, "manual://chapters/1");
  assert.deepEqual([parts[0].uri, parts[0].mimeType, decodeUtf8(parts[0].data)], ["manual://chapters/1", "text/plain", "Let go."]);
  await assert.rejects(host.read(made, "manual://chapters/2"), { code: "not-found" });
  assert.throws(() => resources({ claims: [], read: () => "" }), { code: "invalid" });
});

test("words are completed", async () => {
  const host = new TestHost();
  assert.deepEqual((await host.complete(made, "prompt", "review", "path", "a")).values, ["a.c"]);
  assert.deepEqual(await host.complete(made, "prompt", "review", "tone", ""), { values: [], total: 7, hasMore: true, meta: undefined });
});

test("a tool asks for input, and goes on with what was given", async () => {
  const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const greet = plugin({
    tools: [
      tool({ name: "greet", description: "Greets." }, (call) => {
        const filled = call.input.form("who");
        if (call.input.isAnswered && filled === undefined) throw ToolError.invalid("nobody said a name");
        return filled === undefined ? inputRequired({ who: form("Your name?", schema) }, "round 1") : `Hello, ${filled.name}! ${call.input.state}`;
      }),
    ],
  });
  const host = new TestHost();
  assert.deepEqual((await host.run(greet, "greet")).meta, {
    inputRequired: { requests: { who: { method: "elicitation/create", params: { message: "Your name?", requestedSchema: schema } } }, state: "round 1" },
  });
  const accepted = host.given({ who: { action: "accept", content: { name: "Ada" } } }, "round 1");
  assert.equal((await accepted.run(greet, "greet")).text, "Hello, Ada! round 1");
  for (const odd of [{}, { who: null }, { who: { action: "decline" } }, { who: [] }]) {
    await assert.rejects(host.given(odd).run(greet, "greet"), { code: "invalid" });
  }
  assert.throws(() => inputRequired({}), { code: "invalid" });
});

test("a model and folders can be asked for, and what is said is read in any shape", () => {
  assert.deepEqual(model("Why?", 100), {
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content: { type: "text", text: "Why?" } }], maxTokens: 100 },
  });
  assert.deepEqual(roots(), { method: "roots/list", params: {} });
  const responses = { one: { content: { type: "text", text: "so" } }, list: { content: [{ text: "so" }] }, odd: { content: [7] }, folders: { roots: [{ uri: "file:///a" }, null, {}] } };
  const input = new Input({ responses, state: 7 }, { capabilities: { sampling: {}, roots: null } });
  assert.deepEqual(["one", "list", "odd", "none", "__proto__"].map((name) => input.model(name)), ["so", "so", undefined, undefined, undefined]);
  assert.deepEqual([input.roots("folders"), input.roots("one")], [["file:///a"], undefined]);
  assert.deepEqual([input.clientCan("sampling"), input.clientCan("roots"), input.state, input.isAnswered], [true, false, undefined, true]);
});
