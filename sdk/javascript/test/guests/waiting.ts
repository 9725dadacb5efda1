// A tool that waits, which SpiderMonkey can and QuickJS cannot; and requests over HTTP.

import { plugin, tool, Type } from "@wharf/sdk";
import { fetch } from "@wharf/sdk/http";

const wait = tool({ name: "wait", description: "Waits for a timer." }, async () => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return "waited";
});

const get = tool({ name: "get", description: "Gets a page.", input: Type.Object({ url: Type.String() }) }, async (_call, { url }) => {
  const response = await fetch(url);
  return `${response.status} ${await response.text()}`;
});

export default plugin({ tools: [wait, get] });
