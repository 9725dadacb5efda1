// The package against a real host, from scratch: packs it, installs the tarball in a folder outside of
// the repository, builds the examples there, grants what they need, and calls them.
//
//   node test/in-host.mjs WHARF [GUESTS [KITS]]
//
// WHARF is the program `wharf`. The network is needed once, for npm. Prints a line for each check. Leaves the guests of
// the tests that every language passes in the directory GUESTS, where it is named. KITS has a folder for each release,
// with its package; a plugin is made with each.

import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { Session } from "./session.mjs";

const [wharf, guests, kits] = process.argv.slice(2);
if (wharf === undefined) {
  console.error("usage: node test/in-host.mjs WHARF [GUESTS [KITS]]");
  process.exit(2);
}

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = mkdtempSync(join(tmpdir(), "wharf-kit-"));
const project = join(folder, "project");
const config = join(folder, "wharf.toml");
const failures = [];

function check(what, holds, detail = "") {
  if (!holds) failures.push(what);
  console.log(`${holds ? "ok    " : "FAILED"} ${what}${detail === "" ? "" : `: ${detail}`}`);
}

const run = (program, args, cwd = project) => execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

function attempt(program, args) {
  try {
    return { text: run(program, args), failed: false };
  } catch (error) {
    return { text: `${error.stdout}${error.stderr}`, failed: true };
  }
}

function install() {
  const [packed] = JSON.parse(run("npm", ["pack", "--silent", "--json", "--ignore-scripts", "--pack-destination", folder], root));
  const names = packed.files.map(({ path }) => path);
  const needed = ["wit/state.wit", "dist/index.d.ts", "bin/wharf-componentize.mjs", "examples/greeter/greeter.ts", "LICENSE", "README.md"];
  check("the tarball has the contract, types, builder, examples and licence", needed.every((name) => names.includes(name)), `${packed.size} bytes, ${names.length} files`);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", join(folder, packed.filename)]);
  for (const [name, file] of [["greeter", "greeter.ts"], ["builder", "builder.ts"], ["page-reader", "page-reader.js"]]) {
    cpSync(join(project, "node_modules", "@wharf", "sdk", "examples", name, file), join(project, file));
  }
  for (const name of ["probe", "waiting", "offering", "filing", "devices", "suite"]) cpSync(join(root, "test", "guests", `${name}.ts`), join(project, `${name}.ts`));
  const missing = attempt("npx", ["wharf-componentize", "greeter.ts"]);
  check("a missing engine is named with its command", missing.failed && missing.text.includes("npm install --save-dev componentize-qjs"));
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--save-dev", "componentize-qjs@0.4.5", "@bytecodealliance/componentize-js@0.23.0", "@bytecodealliance/preview2-shim@0.26.0"]);
}

function build(file, output, engine, ...more) {
  run("npx", ["wharf-componentize", file, "--engine", engine, "--output", `${output}.wasm`, ...more]);
  check(`${file} is built for ${engine}`, true, `${statSync(resolve(project, `${output}.wasm`)).size} bytes`);
}

function buildAll() {
  build("greeter.ts", "greeter", "quickjs", "--with", "state", "--reason", "state=counts visits");
  build("builder.ts", "builder", "quickjs", "--reason", "process=runs cc");
  build("page-reader.js", "reader", "quickjs", "--reason", "webview=reads pages");
  build("probe.ts", "probe", "quickjs");
  build("offering.ts", "offering", "quickjs");
  build("filing.ts", "filing", "quickjs");
  build("devices.ts", "devices", "quickjs");
  build("greeter.ts", "monkey", "spidermonkey");
  build("devices.ts", "monkeydevices", "spidermonkey");
  build("probe.ts", "monkeyprobe", "spidermonkey");
  build("filing.ts", "monkeyfiling", "spidermonkey");
  build("waiting.ts", "waiting", "spidermonkey", "--reason", "http=gets pages");
  for (const engine of guests === undefined ? [] : ["quickjs", "spidermonkey"]) build("suite.ts", join(guests, engine), engine);
  const refused = attempt("npx", ["wharf-componentize", "waiting.ts"]);
  check("fetch on QuickJS is refused at build", refused.failed && refused.text.includes("--engine spidermonkey"));
  writeFileSync(join(project, "early.ts"), 'import { plugin } from "@wharf/sdk";\nimport { bucket } from "@wharf/sdk/state";\nbucket("session", "n");\nexport default plugin({});\n');
  const early = attempt("npx", ["wharf-componentize", "early.ts"]);
  check("a call of the host at the top level is refused at build", early.failed && early.text.includes("runs at build, without a host"));
}

const host = (...args) => ["--config", config, "--data", join(folder, "data"), "--quiet", ...args];

function grant(name, ...allowed) {
  run(wharf, host("plugin", "add", `${name}.wasm`));
  if (allowed.length > 0) run(wharf, host("grant", name, ...allowed.flatMap((capability) => ["--allow", capability]), "--reason", "a test"));
}

// A plugin that is made with the kit of each earlier release, by its name.
function buildWithEarlierKits() {
  const releases = kits === undefined ? [] : readdirSync(kits).filter((name) => !name.endsWith(".md")).sort();
  return releases.map((release) => {
    const [name, place] = [`kit-${release.replaceAll(".", "-")}`, join(folder, `kit-${release}`)];
    const tarball = readdirSync(join(kits, release)).find((file) => file.endsWith(".tgz"));
    mkdirSync(place);
    writeFileSync(join(place, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
    run("npm", ["install", "--silent", "--no-audit", "--no-fund", join(kits, release, tarball), "componentize-qjs@0.4.5"], place);
    cpSync(join(place, "node_modules", "@wharf", "sdk", "examples", "greeter", "greeter.ts"), join(place, "greeter.ts"));
    run("npx", ["wharf-componentize", "greeter.ts", "--engine", "quickjs", "--output", join(project, `${name}.wasm`), "--with", "state", "--reason", "state=counts visits"], place);
    return { name, release };
  });
}

async function earlierKits(session, made) {
  for (const { name, release } of made) {
    const answer = await session.call(`${name}__greet`, { name: "Ada" }, "a");
    check(`a plugin that is made with the kit of ${release} answers`, answer.structured?.count === 1, answer.text);
  }
}

function grantAll(origin) {
  writeFileSync(config, '[plugin.offering.settings]\ngreeting = "Ahoy"\n');
  grant("greeter", "state");
  grant("monkey", "state");
  grant("probe", "state");
  grant("monkeyprobe", "state");
  grant("builder", "process=cc", "events");
  grant("reader", `webview=${origin}`, "webview.private_addresses");
  grant("offering", "events");
  grant("filing", "workspace", "state");
  grant("monkeyfiling", "workspace", "state");
  for (const name of ["devices", "monkeydevices"]) {
    grant(name, "terminal.shell", "process=cat", `webview=${origin}`, "webview.private_addresses");
  }
  grant("waiting", `http=${origin}/*`, "http.private_addresses");
}

async function greeters(session) {
  for (const [plugin, engine] of [["greeter", "QuickJS"], ["monkey", "SpiderMonkey"]]) {
    const greet = (name, context) => session.call(`${plugin}__greet`, { name }, context);
    const texts = [await greet("Ada", "a"), await greet("Ada", "a"), await greet("Ada", "b")].map((answer) => answer.text);
    check(`${engine}: state survives between calls, and sessions are apart`, texts.join(" ") === "Welcome, Ada. Visit 1. Welcome, Ada. Visit 2. Welcome, Ada. Visit 1.", texts.join(" "));
    const structured = (await greet("Grace", "a")).structured;
    check(`${engine}: the answer has its structure`, structured?.count === 1);
    const error = await session.call(`${plugin}__forget`, { name: "Bob" }, "a");
    check(`${engine}: an error has its code`, error.isError && error.code === "not-found" && error.text === "Bob was never here", error.text);
    const invalid = await session.call(`${plugin}__greet`, { name: 7 }, "a");
    check(`${engine}: arguments that do not fit are refused`, invalid.isError && invalid.code === "invalid", invalid.text.split("\n").at(-1));
    const rivals = await Promise.all(Array.from({ length: 24 }, () => greet("Rival", "c")));
    const counts = rivals.map((answer) => answer.structured?.count).sort((left, right) => left - right);
    check(`${engine}: 24 calls at once lose no update`, counts.every((count, index) => count === index + 1), String(counts));
    const times = [];
    for (let round = 0; round < 60; round++) {
      const began = performance.now();
      await greet("Ada", "a");
      times.push(performance.now() - began);
    }
    const median = times.slice(10).sort((left, right) => left - right)[25];
    check(`${engine}: a call with state`, median < 1_000, `${median.toFixed(2)} ms, the median of 50`);
  }
}

async function probes(session) {
  for (const [plugin, engine] of [["probe", "QuickJS"], ["monkeyprobe", "SpiderMonkey"]]) {
    const drawn = [];
    for (let call = 0; call < 3; call++) drawn.push(...JSON.parse((await session.call(`${plugin}__random`)).text));
    const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(drawn[2]);
    const inRange = drawn.filter((one) => typeof one === "number").every((one) => one >= 0 && one < 1);
    check(`${engine}: each call draws other random numbers`, new Set(drawn).size === 12 && isUuid && inRange, drawn.join(" "));
    const { encoded, decoded, fatal, megabyte } = JSON.parse((await session.call(`${plugin}__encoding`)).text);
    const texts = ["", "a", "grüß", "한국어 🙂", "%41 %zz + /", "\u0000\u007f\u0080\u07ff\u0800\uffff", "\ud800", "a\udc00b", "🙂\ud83d"];
    const bytes = [[0x80], [0xc3], [0xc3, 0x28], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x99], [0xff, 0x41], [0xf4, 0x90, 0x80, 0x80]];
    const of = (text) => JSON.stringify([...new TextEncoder().encode(text)]);
    check(`${engine}: text is encoded as Node.js does`, texts.every((text, at) => encoded[at].every((found) => JSON.stringify(found) === of(text))));
    check(`${engine}: bytes are decoded as Node.js does`, bytes.every((given, at) => decoded[at].every((found) => JSON.stringify(found) === of(new TextDecoder().decode(Uint8Array.from(given))))));
    check(`${engine}: a fatal decoder refuses malformed bytes`, fatal.every((name) => name === "TypeError") && megabyte === 500_000);
    const expected = {
      code: ["gone", "it left \ufffd"],
      exception: ["internal"],
      text: ["internal", "only text"],
      host: ["invalid", "`scope` must be"],
      type: ["invalid", "`name` must be a string, not 7"],
      revision: ["conflict"],
      // The host's own limit of the stack comes first on QuickJS.
      recursion: [engine === "QuickJS" ? "limit" : "internal"],
      nothing: ["internal", "what the tool returned must be an object"],
    };
    for (const [kind, words] of Object.entries(expected)) {
      const answer = await session.call(`${plugin}__fail`, { kind });
      const [code, ...rest] = words;
      const holds = answer.code === code && rest.every((word) => answer.text.includes(word)) && !answer.text.includes(".ts:") && !answer.text.includes("panicked");
      check(`${engine}: a failure of the kind \`${kind}\` is \`${code}\``, holds, answer.text.split("\n")[0].slice(0, 100));
    }
    const logged = await session.call(`${plugin}__log`);
    check(`${engine}: a lone surrogate does not end the call`, logged.text.includes("lone \ufffd surrogate"));
    check(`${engine}: the console is the log, with levels, and the top level is silent`, /WARN.*a warning \{ of: \["what"\] \}/.test(session.log) && !session.log.includes("the top level has no log"));
    check(`${engine}: the stack of a defect is in the log`, new RegExp(`ERROR.*TypeError`).test(session.log));
  }
}

async function builder(session) {
  const write = (path, content) => session.call("workspace__write_file", { path, content }, "build");
  const written = await write("hello.c", '#include <stdio.h>\nint main(void) { puts("hello from cc"); return 0; }\n');
  check("the workspace has a C file", !written.isError, written.text.split("\n")[0].slice(0, 80));
  const built = await session.call("builder__build", { file: "hello.c" }, "build");
  check("builder: cc compiles it", built.structured?.exit_code === 0 && built.structured.status === "finished", built.text);
  const ran = await session.call("workspace__execute_shell", { command: "./hello" }, "build");
  check("builder: the program runs", ran.text.includes("hello from cc"), ran.text.split("\n")[0].slice(0, 80));
  await write("broken.c", "int main(void) { return nothing; }\n");
  const broken = await session.call("builder__build", { file: "broken.c" }, "build");
  check("builder: what cc says of a broken file is answered", broken.structured?.exit_code === 1 && broken.text.includes("nothing"));
  const again = await session.call("builder__follow", { id: broken.structured.id }, "build");
  check("builder: a later call follows the same build", again.structured?.exit_code === 1 && again.text.includes("nothing"));
  const stranger = await session.call("builder__follow", { id: broken.structured.id }, "other");
  check("builder: another session has no such build", stranger.code === "not-found");
}

async function files(session) {
  const expected = {
    text: "kurz",
    large: [8_388_608, 7],
    listed: ["folder directory", "note.txt regular-file"],
    missing: "not-found",
    outside: "denied",
    absolute: "denied",
    again: "conflict",
    full: "conflict",
    directory: "invalid",
    number: "invalid",
    left: ["note.txt"],
  };
  for (const [plugin, engine] of [["filing", "QuickJS"], ["monkeyfiling", "SpiderMonkey"]]) {
    const { text } = await session.call(`${plugin}__file`, {}, plugin);
    check(`${engine}: files of the workspace are made, read and removed, and errors have codes`, text === JSON.stringify(expected), text);
  }
}

async function devices(session, origin) {
  for (const [plugin, engine] of [["devices", "QuickJS"], ["monkeydevices", "SpiderMonkey"]]) {
    const shell = await session.call(`${plugin}__shell`, {}, plugin);
    const asked = JSON.parse(shell.text);
    check(`${engine}: a shell in a terminal answers`, asked.text.includes("sum 42 grüß") && asked.seen && asked.columns === 100 && asked.status === "closed", asked.reason);
    const input = JSON.parse((await session.call(`${plugin}__input`, {}, plugin)).text);
    const expected = { written: 17, reason: "pattern", found: [5, 9], text: "eins\nzwei grüß\n", code: 0, gone: "gone", again: "finished" };
    check(`${engine}: a process is written to, waited for and followed`, JSON.stringify(input) === JSON.stringify(expected), JSON.stringify(input));
    const page = await session.call(`${plugin}__page`, { url: `${origin}/` }, plugin);
    const seen = { length: 1_500_000, whole: true, thrown: "invalid", type: "image/png", network: true };
    check(`${engine}: a page answers a long result in pieces, and a picture`, page.text === JSON.stringify(seen), page.text);
  }
}

async function reader(session, origin) {
  const page = await session.call("reader__read", { url: `${origin}/` }, "a");
  check("page reader: title and text", page.structured?.title === "Harbour news" && page.structured.text.includes("Three ships"), page.text.replaceAll("\n", " ").slice(0, 80));
  const denied = await session.call("reader__read", { url: "https://example.com/" }, "a");
  check("page reader: an origin without a grant is denied", denied.code === "denied", denied.text.slice(0, 80));
}

async function waiting(session, origin) {
  check("SpiderMonkey: a tool waits for a timer", (await session.call("waiting__wait")).text === "waited");
  const got = await session.call("waiting__get", { url: `${origin}/` });
  check("SpiderMonkey: fetch sends a granted request", got.text.startsWith("200 ") && got.text.includes("Harbour news"), got.text.slice(0, 60));
  const denied = await session.call("waiting__get", { url: "http://127.0.0.2:1/" });
  check("SpiderMonkey: a request without a grant has a code", denied.code === "unavailable", denied.text.slice(0, 100));
}

async function offers(session) {
  const prompt = await session.ask("prompts/get", { name: "offering__review", arguments: { path: "a.c" } });
  check("a prompt is made", prompt.result?.messages[0].content.text === "Review a.c.");
  const read = await session.ask("resources/read", { uri: "manual://1" });
  check("a resource is read", read.result?.contents[0].text === "Let go forward.");
  const none = await session.ask("resources/read", { uri: "manual://2" });
  check("an unknown resource is an error", none.error?.code === -32002, none.error?.message.slice(0, 60));
  const words = await session.ask("completion/complete", { ref: { type: "ref/prompt", name: "offering__review" }, argument: { name: "path", value: "h" } });
  check("words are completed", words.result?.completion.values.join() === "hello.c");
  const asked = await session.call("offering__ask");
  check("a tool asks for input, goes on with it, and reads the settings", asked.text === "Ahoy, Ada!", asked.text);
  check("events are granted", (await session.call("offering__tell")).text === "told");
}

const server = createServer((_request, response) => {
  response.setHeader("content-type", "text/html");
  response.end("<title>Harbour news</title><h1>Ships</h1><p>Three ships came in.</p>");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

try {
  install();
  buildAll();
  const earlier = buildWithEarlierKits();
  grantAll(origin);
  for (const { name } of earlier) grant(name, "state");
  const session = await Session.open(spawn(wharf, host("--profile", "developer", "--log", "error,wharf::plugin=trace", "serve", "--stdio"), { cwd: project }));
  try {
    await greeters(session);
    await earlierKits(session, earlier);
    await probes(session);
    await builder(session);
    await files(session);
    await devices(session, origin);
    await reader(session, origin);
    await waiting(session, origin);
    await offers(session);
  } finally {
    await session.close();
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures.length === 0 ? "all checks hold" : `${failures.length} checks failed: ${failures.join("; ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;
