// The plugins: what each is, what it may use, and what it asked for.

import { useState } from "preact/hooks";
import { get, part, post } from "../api";
import { useLive } from "../live";
import { ofPlugins, useMetrics, type PluginFigures } from "../metrics";
import { Act, Chips, Empty, Heading, Problem, Status, bytes, duration, useRead } from "../parts";
import type { PluginLookReport } from "../types";
import { say } from "../words";
import { PluginBounds } from "./bounds";
import { Add, Replace } from "./installing";
import { Trial } from "./trial";

function Tools({ of }: { of: string[] }) {
  if (of.length === 0) return <>{say("none")}</>;
  return (
    <ul class="chips">
      {of.map((one) => (
        <li key={one}>
          <a href={`#/plugins/${part(one)}`} title={say("tryTool")}>
            <code>{one}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** How often its origin and its limits are read while they are open. */
const LOOK = 10_000;

function Bounds({ of }: { of: string }) {
  const { value, problem } = useRead(() => get<PluginLookReport>(`/v1/operator/plugins/${part(of)}`), LOOK, of);
  return (
    <>
      <Problem of={problem} />
      {value && <PluginBounds of={value} />}
    </>
  );
}

/** Where it comes from and what its calls may use up, read once somebody opens it. */
function Origin({ of }: { of: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="origin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say("originAndLimits")}</summary>
      {isOpen && <Bounds of={of} />}
    </details>
  );
}

/** What the host that serves this page has counted. */
function Counted({ of }: { of: PluginFigures | undefined }) {
  const { calls, denials, p95 } = of ?? { calls: 0, denials: 0, p95: null };
  return (
    <>
      {calls}
      {p95 !== null && `, p95 ≤ ${duration(p95)}`}
      {denials > 0 && <span class="near"> {say("deniedTimes", { count: denials })}</span>}
    </>
  );
}

export function Plugins({ rest }: { rest: string }) {
  return rest ? <Trial name={rest} /> : <All />;
}

function All() {
  const plugins = useLive("plugins").value?.plugins;
  const { text } = useMetrics();
  const figures = text === null ? null : ofPlugins(text);
  const turn = (name: string, enabled: boolean) => post(`/v1/operator/plugins/${part(name)}/switch`, { enabled });
  return (
    <>
      <Heading word="plugins" />
      <Add />
      {!plugins ? (
        <p>{say("loading")}</p>
      ) : plugins.length === 0 ? (
        <Empty word="noPlugins" />
      ) : (
        plugins.map((plugin) => (
          <article class="plugin" key={plugin.name} aria-label={plugin.name}>
            <h2>
              {plugin.name} <Status of={plugin.state} />{" "}
              {plugin.state === "disabled" ? (
                <Act label={say("enable")} act={() => turn(plugin.name, true)} />
              ) : (
                plugin.state !== "rejected" && (
                  <Act label={say("disable")} confirm="confirmDisable" act={() => turn(plugin.name, false)} />
                )
              )}
            </h2>
            {plugin.reason && <p class="problem">{plugin.reason}</p>}
            {plugin.withheld && <p class="problem">{plugin.withheld}</p>}
            <dl>
              <dt>{say("digest")}</dt>
              <dd>
                <code>{plugin.digest ?? "–"}</code> {plugin.bytes !== undefined && bytes(plugin.bytes)} {plugin.origin}
              </dd>
              <dt>{say("calls")}</dt>
              <dd>{figures && <Counted of={figures.get(plugin.name)} />}</dd>
              <dt>{say("grants")}</dt>
              <dd>
                <Chips of={plugin.grants} />
              </dd>
              <dt>{say("wanted")}</dt>
              <dd>
                <Chips of={plugin.wanted_grants} />
              </dd>
              <dt>{say("tools")}</dt>
              <dd>
                <Tools of={plugin.tools} />
              </dd>
            </dl>
            <details>
              <summary>{say("imports")}</summary>
              <Chips of={plugin.imports} />
            </details>
            <Origin of={plugin.name} />
            {plugin.origin === "added" && <Replace plugin={plugin.name} />}
          </article>
        ))
      )}
    </>
  );
}
