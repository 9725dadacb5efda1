// What every check needs: a running host, a count of what holds, other programs.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

// Only a defect waits for it: a first start compiles components.
export const PATIENCE_MILLISECONDS = 120_000;

export class CheckFailed extends Error {}

/** Counts checks and prints each one. */
export class Report {
  passed = 0;

  check(holds, what, found) {
    if (!holds) {
      const detail = found === undefined ? "" : `\n      found: ${shorten(found)}`;
      throw new CheckFailed(`${what}${detail}`);
    }
    this.passed += 1;
    console.log(`ok    ${what}`);
  }
}

function shorten(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= 2_000 ? text : `${text.slice(0, 2_000)}… (${text.length} characters)`;
}

export function environment(name) {
  const value = process.env[name];
  if (!value) throw new CheckFailed(`the environment variable ${name} is not set; cargo xtask test sets it`);
  return path.resolve(value);
}

/** A data directory with a configuration, for hosts to be started on. */
export class Place {
  constructor(configuration) {
    this.binary = environment("WHARF");
    this.data = mkdtempSync(path.join(tmpdir(), "wharf-conformance-"));
    this.configuration = path.join(this.data, "wharf.toml");
    writeFileSync(this.configuration, configuration);
  }

  arguments(...how) {
    return ["serve", ...how, "--data", this.data, "--config", this.configuration];
  }

  remove() {
    rmSync(this.data, { recursive: true, force: true });
  }
}

/** Waits until every plugin is compiled: the checks expect a whole list. */
async function compiled(place) {
  const until = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const list = ["plugin", "list", "--json", "--data", place.data, "--config", place.configuration];
    const { plugins } = JSON.parse((await promisify(execFile)(place.binary, list)).stdout);
    const compiling = plugins.filter(plugin => plugin.state === "compiling").map(plugin => plugin.name);
    if (compiling.length === 0) return;
    if (Date.now() > until) throw new CheckFailed(`still being compiled: ${compiling.join(", ")}`);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

/** `wharf serve --http`, on a port of its own unless one is named. */
export class Server {
  log = "";

  static async start(place, listens = "127.0.0.1:0") {
    const server = new Server();
    server.process = spawn(place.binary, place.arguments("--http", listens), { stdio: ["ignore", "inherit", "pipe"] });
    const address = new Promise((resolve, reject) => {
      server.process.stderr.setEncoding("utf8").on("data", text => {
        server.log += text;
        const found = /url="(http:[^"]+)"/.exec(server.log);
        if (found) resolve(found[1]);
      });
      server.process.on("exit", () => reject(new CheckFailed(`the server ended:\n${server.log}`)));
      server.process.on("error", reject);
    });
    server.url = new URL("/mcp", await within(address, "the server says where it is"));
    await compiled(place);
    server.token = readFileSync(path.join(place.data, "http-token"), "utf8").trim();
    return server;
  }

  async stop(signal = "SIGTERM") {
    const ended = new Promise(resolve => {
      if (this.process.exitCode !== null || this.process.signalCode !== null) resolve();
      this.process.once("exit", resolve);
    });
    this.process.kill(signal);
    await within(ended, "the server ends");
  }
}

export async function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new CheckFailed(`${what}: not within ${PATIENCE_MILLISECONDS} ms`)), PATIENCE_MILLISECONDS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs a script of an installed package in this Node.js: exit code and output. */
export function run(script, parameters) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...parameters], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "", errors = "";
    child.stdout.setEncoding("utf8").on("data", text => { output += text; });
    child.stderr.setEncoding("utf8").on("data", text => { errors += text; });
    child.on("error", reject);
    child.on("close", code => resolve({ code, output, errors }));
  });
}
