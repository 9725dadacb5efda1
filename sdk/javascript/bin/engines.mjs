// The engines' own tools, which make a component of a bundle. They are the author's to install.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { BuildError } from "./options.mjs";

/** Makes the component of a world's source. Fails with `BuildError` where the tool is missing or refuses. */
export function componentize(engine, world, used) {
  return engine === "quickjs" ? withQuickJs(world) : withSpiderMonkey(world, used);
}

/** What has to be installed for a tool. componentize-js 0.23 imports a package that it does not depend on. */
const PACKAGES = {
  "componentize-qjs": "componentize-qjs",
  "@bytecodealliance/componentize-js": "@bytecodealliance/componentize-js @bytecodealliance/preview2-shim",
};

/**
 * The tool as the author's project has it, or as the kit's own folder has it. One of them cannot be
 * required, only imported, and Node.js resolves imports of another folder's for nobody.
 */
async function load(name) {
  const command = `npm install --save-dev ${PACKAGES[name]}`;
  for (const folder of [process.cwd(), dirname(fileURLToPath(import.meta.url))]) {
    const found = installed(folder, name);
    if (found === undefined) continue;
    try {
      return await import(pathToFileURL(found).href);
    } catch (error) {
      throw new BuildError(`${name} cannot be loaded: ${error.message}; run: ${command}`, { cause: error });
    }
  }
  throw new BuildError(`${name} is not installed; run: ${command}`);
}

/** The module of a package in the nearest `node_modules` that has it. */
function installed(folder, name) {
  const root = join(folder, "node_modules", name);
  if (existsSync(join(root, "package.json"))) {
    const { exports, main } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    return join(root, moduleOf(exports?.["."] ?? exports) ?? main ?? "index.js");
  }
  const above = dirname(folder);
  return above === folder ? undefined : installed(above, name);
}

/** What `import` leads to, of an `exports` that may have conditions. */
function moduleOf(exported) {
  if (typeof exported !== "object" || exported === null) return exported;
  return moduleOf(exported.import ?? exported.node ?? exported.default);
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
  // One of the tools begins its messages with a colon.
  const why = String(error?.message ?? error).replace(/^[:\s]+/, "");
  return new BuildError(`${tool} refused the plugin (places are those in the bundle): ${why}`, { cause: error });
}
