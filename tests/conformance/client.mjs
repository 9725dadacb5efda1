// The official TypeScript client, as agent apps use it: over standard streams and HTTP, in both eras.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { within } from "./harness.mjs";

const MODES = { "2025-11-25": "legacy", "2026-07-28": { pin: "2026-07-28" } };

function transport(way, place, server) {
  if (way === "HTTP") {
    return new StreamableHTTPClientTransport(server.url, { requestInit: { headers: { Authorization: `Bearer ${server.token}` } } });
  }
  return new StdioClientTransport({ command: place.binary, args: place.arguments("--stdio"), stderr: "ignore" });
}

async function connect(way, era, place, server) {
  const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  const client = new Client({ name: "wharf-conformance", version: "1.0.0" }, {
    capabilities, versionNegotiation: { mode: MODES[era] },
  });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada", username: "ada", email: "ada@example.com" } }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant", content: { type: "text", text: "Paris" }, model: "none", stopReason: "endTurn",
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///project", name: "project" }] }));
  await within(client.connect(transport(way, place, server)), "connecting");
  return client;
}

const text = answer => answer.content.map(part => part.text ?? "").join("\n");

async function converse(report, client, way, era) {
  const ok = (holds, what, found) => report.check(holds, `TypeScript client: ${what} (${way}, ${era})`, found);
  const call = (name, parameters = {}, options) => within(client.callTool({ name, arguments: parameters }, options), name);

  const { tools } = await client.listTools();
  ok(tools.some(tool => tool.name === "test_simple_text"), "tools are listed", tools.map(tool => tool.name));
  ok(text(await call("test_simple_text")) === "This is a simple text response for testing.", "a tool is called");
  const failed = await call("test_error_handling");
  ok(failed.isError === true, "a tool's failure is an answer", failed);
  const picture = await call("test_image_content");
  ok(picture.content[0].type === "image" && picture.content[0].mimeType === "image/png", "a picture arrives", picture);

  const progress = [];
  // This client forgets who hears of progress when it reads the answer, and tells them a step later than it reads: of what came in one
  // piece with the answer it says by an error that it knows nobody to tell.
  client.onerror = error => {
    const untold = /progress notification for an unknown token: (.*)$/s.exec(error.message);
    if (untold) progress.push(JSON.parse(untold[1]).params.progress);
  };
  await call("test_tool_with_progress", {}, { onprogress: told => progress.push(told.progress) });
  ok(JSON.stringify(progress) === "[0,50,100]", "progress arrives, in order", progress);

  const greeted = await call("test_input_required_result_elicitation");
  ok(text(greeted).includes("Ada"), "a tool asks the person something, and goes on with the answer", greeted);
  const sampled = await call("test_input_required_result_sampling");
  ok(sampled.isError !== true && text(sampled).length > 0, "a tool asks the client's model something", sampled);
  const rooted = await call("test_input_required_result_list_roots");
  ok(rooted.isError !== true, "a tool asks for the client's roots", rooted);

  const { prompts } = await client.listPrompts();
  ok(prompts.some(prompt => prompt.name === "test_prompt_with_arguments"), "prompts are listed", prompts);
  const prompt = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "hello", arg2: "world" } });
  ok(prompt.messages[0].content.text.includes("arg1='hello'"), "a prompt is made of its arguments", prompt);
  const read = await client.readResource({ uri: "test://template/123/data" });
  ok(JSON.parse(read.contents[0].text).id === "123", "a resource of a template is read", read);
  const { resources } = await client.listResources();
  ok(resources.some(resource => resource.uri === "test://static-text"), "resources are listed", resources);
  const completed = await client.complete({
    ref: { type: "ref/prompt", name: "test_prompt_with_arguments" }, argument: { name: "arg1", value: "h" },
  });
  ok(Array.isArray(completed.completion.values), "an argument is completed", completed);

  const unknown = await client.callTool({ name: "no_such_tool", arguments: {} }).catch(error => error);
  ok(unknown instanceof Error && unknown.message.includes("no_such_tool"), "an unknown tool is an error that names it", String(unknown));
}

export async function check(report, place, server) {
  for (const way of ["standard streams", "HTTP"]) {
    for (const era of Object.keys(MODES)) {
      const client = await connect(way, era, place, server);
      try {
        await converse(report, client, way, era);
      } finally {
        await client.close();
      }
    }
  }
}
