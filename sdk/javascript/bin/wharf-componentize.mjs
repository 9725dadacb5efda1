#!/usr/bin/env node
// Makes a component of an author's module: bundles it with the kit, writes a world that has what the
// bundle uses and nothing else, and lets an engine's own tool make the component.

import { writeFileSync } from "node:fs";

import { bundle } from "./bundle.mjs";
import { componentize } from "./engines.mjs";
import { BuildError, HELP, optionsOf } from "./options.mjs";
import { withSection } from "./section.mjs";
import { contractVersion, writeWorld } from "./world.mjs";

async function main() {
  const options = optionsOf(process.argv.slice(2));
  if (options.help) return console.log(HELP);
  if (options.version) return console.log(`made for wharf:plugin@${contractVersion()}`);
  const { source, used } = await bundle(options);
  const world = writeWorld(source, used);
  try {
    const component = withSection(await componentize(options.engine, world, used), used, options.reasons);
    write(options.output, component);
    const asks = [...used.capabilities].join(", ") || "nothing";
    console.log(`${options.output}: ${component.length} bytes for ${options.engine}; asks the operator for ${asks}`);
  } finally {
    world.remove();
  }
}

function write(file, component) {
  try {
    writeFileSync(file, component);
  } catch (error) {
    throw new BuildError(`${file} cannot be written: ${error.message}`, { cause: error });
  }
}

main().catch((error) => {
  // A defect of this program shows where it is; what an author can change needs no stack.
  console.error(error instanceof BuildError ? `wharf-componentize: ${error.message}` : error);
  process.exitCode = 1;
});
