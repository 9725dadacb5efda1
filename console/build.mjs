// Makes the files of the console: `node build.mjs FOLDER`. Nothing is fetched, and nothing refers
// to another server.

import { cp, mkdir, rm } from "node:fs/promises";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const folder = process.argv[2] ?? "dist";
await mkdir(folder, { recursive: true });
for (const name of await readdir(folder)) {
  if (!name.startsWith(".")) await rm(join(folder, name), { recursive: true });
}
await build({
  entryPoints: { console: "src/main.tsx" },
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  outdir: folder,
  logLevel: "warning",
});
await cp("src/index.html", join(folder, "index.html"));
await cp("src/icon.svg", join(folder, "icon.svg"));
