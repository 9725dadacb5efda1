// What plugins expect of an engine and QuickJS lacks; and `console`, which goes to the operator's log
// with its level on both engines. Imported for its effect, before anything of the author's.

import { consoleOf } from "./console.js";
import { Utf8Decoder, Utf8Encoder } from "./encoding.js";
import { awaitsPromises } from "./engine.js";
import { write } from "./generated/log.js";
import { isRunning } from "./phase.js";
import { crypto, randomOf } from "./random.js";

const globals = globalThis as Record<string, unknown>;
globals["TextEncoder"] ??= Utf8Encoder;
globals["TextDecoder"] ??= Utf8Decoder;
// What the top level of a module writes while a component is built has no log to go to.
globals["console"] = consoleOf((level, message) => {
  if (isRunning()) write(level, message);
});
// QuickJS alone waits for no promise, and is told by that.
if (!awaitsPromises()) {
  Math.random = randomOf(Math.random);
  globals["crypto"] ??= crypto;
}
