// The world of one plugin: a folder of WIT, as both engines' tools take it.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const kit = join(dirname(fileURLToPath(import.meta.url)), "..");

/** The version of the contract whose text the package carries. */
export function contractVersion() {
  return /^package wharf:plugin@([0-9.]+);/m.exec(readFileSync(join(kit, "wit", "worlds.wit"), "utf8"))[1];
}

/**
 * Writes the world of what a plugin uses, and its source beside it, into a folder of the system's.
 *
 * The text is `wit/world.wit`, and each package that it names is a folder of `wit/deps`: the one
 * layout that both tools accept. `remove` deletes the folder.
 */
export function writeWorld(source, { interfaces, wasi, offers }) {
  const folder = mkdtempSync(join(tmpdir(), "wharf-componentize-"));
  const wit = join(folder, "wit");
  const version = contractVersion();
  const included = ["plugin", ...[...interfaces, ...offers].map((name) => `with-${name}`)];
  const lines = [
    ...included.map((name) => `  include wharf:plugin/${name}@${version};`),
    ...[...wasi].map((path) => `  import ${path};`),
  ];
  mkdirSync(wit);
  writeFileSync(join(wit, "world.wit"), `package wharf-kit:component;\n\nworld component {\n${lines.join("\n")}\n}\n`);
  cpSync(join(kit, "wit"), join(wit, "deps", "wharf-plugin"), { recursive: true });
  if (wasi.size > 0) cpSync(join(kit, "wasi"), join(wit, "deps"), { recursive: true });
  const file = join(folder, "plugin.js");
  writeFileSync(file, source);
  return { wit, name: "component", file, source, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
