// The engines' own tools, which make a component of a bundle. They are the author's to install.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { BuildError } from "./options.mjs";

/** Makes the component of a world's source. Fails with `BuildError` where the tool is missing or refuses. */
export function componentize(engine, world, used) {
  return engine === "quickjs" ? withQuickJs(world) : withSpiderMonkey(world, used);
}

/** The tool as the author's project has it, or as the kit's own folder has it. */
async function load(name) {
  for (const from of [pathToFileURL(join(process.cwd(), "package.json")), import.meta.url]) {
    let found;
    try {
      found = createRequire(from).resolve(name);
    } catch {
      continue;
    }
    return import(pathToFileURL(found).href);
  }
  throw new BuildError(`${name} is not installed; run: npm install --save-dev ${name}`);
}

async function withQuickJs(world) {
  const tool = await load("componentize-qjs");
  const make = tool.componentize ?? tool.default.componentize;
  try {
    // Its asynchronous engine needs a later component model than the contract.
    const made = await make({ witPath: world.wit, world: world.name, jsSource: world.source, jsPath: world.file, sync: true });
    return made.component;
  } catch (error) {
    throw refusal("componentize-qjs", error);
  }
}

async function withSpiderMonkey(world, used) {
  const { componentize } = await load("@bytecodealliance/componentize-js");
  // Without them, the component does not import wasi:http, which it has no use for.
  const disableFeatures = used.capabilities.has("http") ? ["fetch-event"] : ["http", "fetch-event"];
  try {
    const made = await componentize({ sourcePath: world.file, witPath: world.wit, worldName: world.name, disableFeatures });
    return made.component;
  } catch (error) {
    throw refusal("@bytecodealliance/componentize-js", error);
  }
}

function refusal(tool, error) {
  return new BuildError(`${tool} refused the plugin: ${error?.message ?? error}`, { cause: error });
}
