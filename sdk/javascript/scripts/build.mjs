// Builds the package: copies the contract, writes bindings of it, and compiles the sources.

import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { bindings } from "./bindings.mjs";
import { parse } from "./wit.mjs";

/** What plugins export; they call nothing of it. */
const EXPORTED = new Set(["tools", "prompts", "resources", "completion"]);

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// Elsewhere, a folder of that name is another one's.
const repository = join(root, "..", "..");
const isInRepository = existsSync(join(repository, "sdk", "javascript", "package.json"));
const contract = join(repository, "wit");
const copied = join(root, "wit");
const generated = join(root, "src", "generated");
const modules = join(root, "dist", "wit");

// A package and the kit of a new plugin have the copy alone.
if (isInRepository) {
  rmSync(copied, { recursive: true, force: true });
  mkdirSync(copied, { recursive: true });
  for (const file of readdirSync(contract)) copyFileSync(join(contract, file), join(copied, file));
  copyFileSync(join(root, "..", "..", "LICENSE"), join(root, "LICENSE"));
}

rmSync(generated, { recursive: true, force: true });
rmSync(join(root, "dist"), { recursive: true, force: true });
mkdirSync(generated, { recursive: true });
mkdirSync(modules, { recursive: true });

/** Both ways in which `#wit/NAME` is there: in a component, and in a test. */
function writeModule(name, specifier) {
  writeFileSync(join(modules, `${name}.js`), `import * as host from "${specifier}";\nexport { host };\n`);
  writeFileSync(
    join(modules, `${name}.fake.js`),
    `import { fakeInterface } from "../testing/current.js";\nexport const host = fakeInterface("${name}");\n`,
  );
}

let version;
for (const file of readdirSync(copied).filter((file) => file.endsWith(".wit")).sort()) {
  const parsed = parse(readFileSync(join(copied, file), "utf8"), file);
  version = parsed.version;
  for (const found of parsed.interfaces) {
    const isImported = !EXPORTED.has(found.name) && found.name !== "types";
    writeFileSync(join(generated, `${found.name}.ts`), bindings(found, isImported));
    if (isImported) writeModule(found.name, `wharf:plugin/${found.name}@${version}`);
  }
}
for (const name of ["preopens", "types"]) writeModule(`filesystem-${name}`, `wasi:filesystem/${name}@0.2.0`);
writeModule("random", "wasi:random/random@0.2.0");
writeFileSync(
  join(generated, "contract.ts"),
  `// Made of wit/ by scripts/build.mjs.\n\n/** The version of \`wharf:plugin\` that this package was made for. */\nexport const contractVersion = "${version}";\n`,
);
const declaration =
  "/** An interface of the host, as the engine hands it to a module: unchecked. */\nexport declare const host: any;\n";
writeFileSync(join(modules, "module.d.ts"), declaration);

// Of the nearest `node_modules`: the kit of a plugin has none of its own.
const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
execFileSync(process.execPath, [join(typescript, "bin", "tsc"), "--project", root], { stdio: "inherit" });
