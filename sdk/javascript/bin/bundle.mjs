// One module of the author's and everything that it imports, and what of the host that uses.

import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import * as esbuild from "esbuild";

import { BuildError, OFFERS } from "./options.mjs";

const kit = realpathSync(join(dirname(fileURLToPath(import.meta.url)), ".."));

/** Interfaces that every plugin has and nobody grants. */
const ALWAYS = new Set(["caller", "log"]);

/** What the host provides is left to it. Without an effect, an import that nothing uses goes away. */
const hostImports = {
  name: "host-imports",
  setup(build) {
    build.onResolve({ filter: /^(wharf|wasi):/ }, ({ path }) => ({ path, external: true, sideEffects: false }));
    build.onResolve({ filter: /^node:/ }, ({ path }) => ({
      errors: [{ text: `${path} is a module of Node.js, and a component has none; @wharf/sdk has what the host offers` }],
    }));
  },
};

/** The module that engines see: globals first, then the author's, then what it exports by name. */
function entry(file, offers) {
  const name = JSON.stringify(basename(file));
  return `
import ${JSON.stringify(join(kit, "dist", "globals.js"))};
import * as author from ${JSON.stringify(`./${basename(file)}`)};
const made = author.default?.tools === undefined ? author : author.default;
if (made.tools === undefined) throw new Error(${name} + " exports no plugin: it ends with \`export default plugin({ … })\`");
export const tools = made.tools;
${offers.map((offer) => `export const ${offer} = made.${offer};\nif (${offer} === undefined) throw new Error(${name} + " has no ${offer}, which it imports or --with names: give them to plugin({ ${offer} })");`).join("\n")}
`;
}

async function build(file, directory, offers) {
  try {
    return await esbuild.build({
      stdin: { contents: entry(file, offers), resolveDir: directory, sourcefile: "wharf-entry.js" },
      absWorkingDir: directory,
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      mainFields: ["module", "main"],
      conditions: ["wharf", "module", "import"],
      treeShaking: true,
      minifySyntax: true,
      legalComments: "none",
      logLevel: "silent",
      logOverride: { "import-is-undefined": "silent" },
      plugins: [hostImports],
    });
  } catch (error) {
    if (error.errors === undefined) throw error;
    const shown = await esbuild.formatMessages(error.errors, { kind: "error", color: false });
    throw new BuildError(`the module cannot be bundled\n${shown.join("")}`);
  }
}

/**
 * Bundles `file`.
 *
 * @returns the source, and what it uses: `interfaces` of the contract, `wasi` imports, `capabilities`
 * that an operator grants, and `offers` that it exports
 */
export async function bundle({ file, allowed, engine }) {
  const directory = realpathSync(dirname(file));
  const used = usedBy(await build(file, directory, []), directory);
  if (allowed !== undefined) {
    for (const name of [...used.capabilities, ...used.offers]) {
      if (!allowed.has(name)) throw new BuildError(`the plugin uses ${name}, which --with does not name`);
    }
    for (const name of allowed) {
      if (OFFERS.includes(name)) used.offers.add(name);
      else used.capabilities.add(name);
      if (!OFFERS.includes(name) && name !== "http") used.interfaces.add(name);
    }
  }
  if (engine === "quickjs" && used.capabilities.has("http")) {
    throw new BuildError("the plugin uses http, and QuickJS has no fetch; build it with --engine spidermonkey");
  }
  const result = await build(file, directory, [...used.offers]);
  return { source: result.outputFiles[0].text, used };
}

function usedBy({ metafile }, directory) {
  const [output] = Object.values(metafile.outputs);
  const used = { interfaces: new Set(), wasi: new Set(), capabilities: new Set(), offers: new Set() };
  for (const { path, external } of output.imports) {
    if (!external) continue;
    const [, name] = /^wharf:plugin\/([a-z-]+)(?:@.*)?$/.exec(path) ?? [];
    if (name === undefined) used.wasi.add(path);
    else if (!ALWAYS.has(name)) {
      used.interfaces.add(name);
      used.capabilities.add(name);
    }
  }
  for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
    const within = bytesInOutput > 0 ? kitModule(directory, path) : undefined;
    if (OFFERS.includes(within)) used.offers.add(within);
    if (within === "http") used.capabilities.add("http");
  }
  return used;
}

/** The kit's module at a path that esbuild names, such as `http`; none of other files. */
function kitModule(directory, path) {
  const full = resolve(directory, path);
  return dirname(full) === join(kit, "dist") ? basename(full, ".js") : undefined;
}
