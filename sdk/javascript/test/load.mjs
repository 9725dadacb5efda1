// Imports an example as a test of an author's would, also on a Node.js that takes no TypeScript.

import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import * as esbuild from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The default export of a module below this package. */
export async function load(path) {
  const folder = join(root, "node_modules", ".examples");
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${basename(path)}.mjs`);
  await esbuild.build({
    entryPoints: [join(root, path)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    // The kit stays one module for plugin and test, which share the host in it.
    plugins: [{ name: "kit", setup: (build) => build.onResolve({ filter: /^@wharf\/sdk/ }, ({ path }) => ({ path: kit(path), external: true })) }],
    logLevel: "error",
  });
  return (await import(pathToFileURL(outfile).href)).default;
}

function kit(path) {
  const name = path.slice("@wharf/sdk".length).replace(/^\//, "");
  return pathToFileURL(join(root, "dist", name === "" ? "index.js" : `${name}.js`)).href;
}
