// What bounds a process, and what bounds the calls of a plugin.

import { bytes, duration } from "../parts";
import type { ContainmentReport, PluginLookReport, ProcessLookReport, TreeProcessReport } from "../types";
import { say } from "../words";

/** A number in the unit that ends its name. */
function inUnits(name: string, value: number): string {
  if (name.endsWith("bytes")) return bytes(value);
  if (name.endsWith("milliseconds")) return duration(value);
  if (name.endsWith("seconds")) return duration(value * 1_000);
  return value.toLocaleString();
}

function Paths({ of }: { of: string[] }) {
  if (of.length === 0) return <>{say("none")}</>;
  return (
    <ul class="plain">
      {of.map((path) => (
        <li key={path}>
          <code>{path}</code>
        </li>
      ))}
    </ul>
  );
}

function Contained({ by }: { by: ContainmentReport }) {
  const user = by.user === null ? "" : ` · uid ${by.user}`;
  if (by.mechanism === "none") {
    return (
      <dd class="problem">
        {say("notContained")}
        {user}
      </dd>
    );
  }
  return (
    <dd>
      {by.mechanism ?? "…"} · {say(by.network ? "withNetwork" : "withoutNetwork")}
      {user}
    </dd>
  );
}

/** What a process may use up and reach. */
export function ProcessBounds({ of }: { of: ProcessLookReport }) {
  const limits = Object.entries(of.limits ?? {}).filter(([, value]) => value !== null);
  return (
    <dl class="bounds">
      {of.containment && (
        <>
          <dt>{say("containment")}</dt>
          <Contained by={of.containment} />
          {of.containment.mechanism !== "none" && (
            <>
              <dt>{say("writable")}</dt>
              <dd>
                <Paths of={of.containment.writable} />
              </dd>
              <dt>{say("readable")}</dt>
              <dd>
                <Paths of={of.containment.readable} />
              </dd>
            </>
          )}
        </>
      )}
      <dt>{say("limits")}</dt>
      <dd>{limits.map(([name, value]) => `${name} ${inUnits(name, value as number)}`).join(" · ") || say("none")}</dd>
    </dl>
  );
}

interface Branch extends TreeProcessReport {
  depth: number;
}

/** Each process behind its parent, and how deep it is. */
function branches(of: TreeProcessReport[]): Branch[] {
  const below = new Map<number, TreeProcessReport[]>();
  const pids = new Set(of.map((one) => one.pid));
  for (const one of of) {
    const parent = pids.has(one.parent) ? one.parent : 0;
    below.set(parent, [...(below.get(parent) ?? []), one]);
  }
  const found: Branch[] = [];
  const walk = (parent: number, depth: number) => {
    for (const one of below.get(parent) ?? []) {
      found.push({ ...one, depth });
      walk(one.pid, depth + 1);
    }
  };
  walk(0, 0);
  return found;
}

/** All that runs of a process. */
export function Tree({ of }: { of: TreeProcessReport[] | null }) {
  if (of === null) return <p class="empty">{say("noTree")}</p>;
  if (of.length === 0) return <p class="empty">{say("nothingRuns")}</p>;
  return (
    <div class="rows tree" tabIndex={0} role="region" aria-label={say("tree")}>
      <table>
        <thead>
          <tr>
            <th scope="col" class="wide">
              {say("command")}
            </th>
            <th scope="col">pid</th>
            <th scope="col">{say("status")}</th>
            <th scope="col" class="number">
              {say("threads")}
            </th>
            <th scope="col" class="number">
              {say("memory")}
            </th>
            <th scope="col" class="number">
              {say("computed")}
            </th>
          </tr>
        </thead>
        <tbody>
          {branches(of).map((one) => (
            <tr key={one.pid}>
              <td class="wide" title={one.name}>
                <span style={{ paddingLeft: `${Math.min(one.depth, 20)}em` }}>
                  <code>{one.command || one.name}</code>
                </span>
              </td>
              <td>{one.pid}</td>
              <td>{one.state}</td>
              <td class="number">{one.threads}</td>
              <td class="number">{bytes(one.resident_bytes)}</td>
              <td class="number">{duration(one.cpu_milliseconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What its builder says of a plugin, where it comes from, and what its calls may use up. */
export function PluginBounds({ of }: { of: PluginLookReport }) {
  return (
    <>
      <dl class="bounds">
        <dt>{say("source")}</dt>
        <dd>
          {of.source ? <code>{of.source}</code> : "–"} {of.manifest && <code>{of.manifest}</code>}{" "}
          {of.added && `${of.added} · ${of.added_by ?? ""}`}
        </dd>
        {of.signer && (
          <>
            <dt>{say("signedBy")}</dt>
            <dd>
              <code>{of.signer}</code>
            </dd>
          </>
        )}
        <dt>{say("pin")}</dt>
        <dd>
          {of.pin ?? say("notPinned")} {of.confirmed && <code>{of.confirmed}</code>}
        </dd>
        <dt>{say("contract")}</dt>
        <dd>{of.contract.length > 0 ? of.contract.join(", ") : "–"}</dd>
        {Object.entries(of.says).map(([word, words]) => (
          <>
            <dt>{word}</dt>
            <dd>{words}</dd>
          </>
        ))}
      </dl>
      {of.limits.length > 0 && (
        <div class="rows limits" tabIndex={0} role="region" aria-label={say("limits")}>
          <table>
            <thead>
              <tr>
                <th scope="col">{say("limits")}</th>
                <th scope="col" class="number">
                  {say("value")}
                </th>
                <th scope="col" class="number">
                  {say("default")}
                </th>
              </tr>
            </thead>
            <tbody>
              {of.limits.map((limit) => (
                <tr key={limit.name} class={limit.value === limit.default ? undefined : "changed"}>
                  <td title={limit.description}>
                    <code>{limit.name}</code>
                  </td>
                  <td class="number">{inUnits(limit.name, limit.value)}</td>
                  <td class="number">{inUnits(limit.name, limit.default)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
