// What each plugin may use, and how that changes: first the lines of wharf.toml, then the change itself.

import { useEffect, useState } from "preact/hooks";
import { Refused, answerOf, get, part } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Problem, Status } from "../parts";
import type { CapabilityReport, Change, ChangeReport, GrantsReport } from "../types";
import { say } from "../words";

export const change = (change: Change, dry_run: boolean) =>
  answerOf<ChangeReport>("/v1/operator/configuration", { change, dry_run });

/** A difference, whose lines say by a sign and a colour whether they come or go. */
function Difference({ of }: { of: string }) {
  const kind = (line: string) =>
    line.startsWith("+") && !line.startsWith("+++") ? "comes" : line.startsWith("-") && !line.startsWith("---") ? "goes" : undefined;
  return (
    <pre class="difference" tabIndex={0} aria-label={say("difference")}>
      {of.split("\n").map((line, index) => (
        <span key={index} class={kind(line)}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

/** What would change, and the button that has it change. */
function Proposal(props: { of: Change; report: ChangeReport; done: () => void; leave: () => void }) {
  const { of, report, done, leave } = props;
  return (
    <div class="proposal" role="group" aria-label={say("difference")}>
      {report.difference === "" ? (
        <p>{say("nothingChanges")}</p>
      ) : (
        <>
          <p>{report.place}</p>
          <Difference of={report.difference} />
          <Act label={say("write")} class="primary" act={() => change(of, false).then(done)} />
        </>
      )}
      <button type="button" onClick={leave}>
        {say("leaveIt")}
      </button>
    </div>
  );
}

function Capability(props: { of: CapabilityReport; plugin: string; changed: () => void }) {
  const { of, plugin, changed } = props;
  const { capability, granted } = of;
  const [reach, setReach] = useState("");
  const [reason, setReason] = useState(of.wanted_because ?? "");
  const [expires, setExpires] = useState("");
  const [proposed, setProposed] = useState<{ of: Change; report: ChangeReport } | null>(null);
  const propose = async (of: Change) => setProposed({ of, report: await change(of, true) });
  const grant = () => {
    const keys = reach.split("\n").map((line) => line.trim()).filter(Boolean);
    const allow = keys.length === 0 ? [capability] : keys.map((key) => (/^[\w.]+=|^[\w.]+$/.test(key) ? `${capability}.${key}` : `${capability}=${key}`));
    return propose({ grant: { plugin, allow, reason, expires: expires === "" ? null : expires } });
  };
  const id = (what: string) => `${capability}-${what}`;
  return (
    <article class="plugin" aria-label={capability}>
      <h2>
        <code>{capability}</code> {granted ? <Status of="granted" /> : of.is_wanted && <Status of="asked" />}
        {of.denials > 0 && <span class="near"> {say("deniedTimes", { count: of.denials })}</span>}
      </h2>
      <p>
        {say("could")} {of.can}.
      </p>
      <p class="hint">
        {say("risk")} {of.risk}.
      </p>
      {of.wanted_because && (
        <p class="hint">
          {say("claims")} {of.wanted_because}
        </p>
      )}
      {granted && <pre tabIndex={0}>{JSON.stringify(granted, null, 2)}</pre>}
      {typeof granted?.expires === "string" && (
        <p>
          {say("expires")} <Moment at={granted.expires} />
        </p>
      )}
      <details>
        <summary>{say(granted ? "changeGrant" : "grant")}</summary>
        <div class="field">
          <label for={id("reach")}>{say("reach")}</label>
          <textarea id={id("reach")} rows={2} value={reach} aria-describedby={id("reach-hint")} onInput={(event) => setReach(event.currentTarget.value)} />
          <p id={id("reach-hint")} class="hint">
            {say("reachHint")}
          </p>
        </div>
        <div class="field">
          <label for={id("reason")}>{say("grantReason")}</label>
          <input id={id("reason")} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
        </div>
        <div class="field">
          <label for={id("expires")}>{say("until")}</label>
          <input id={id("expires")} type="date" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} />
        </div>
        <Act label={say("show")} act={grant} />
      </details>
      {granted && <Act label={say("revoke")} class="danger" act={() => propose({ revoke: { plugin, capability } })} />}
      {proposed && <Proposal {...proposed} done={() => (setProposed(null), changed())} leave={() => setProposed(null)} />}
    </article>
  );
}

function OfPlugin({ plugin }: { plugin: string }) {
  const [report, setReport] = useState<GrantsReport | null>(null);
  const [problem, setProblem] = useState("");
  const read = () =>
    get<GrantsReport>(`/v1/operator/grants/${part(plugin)}`).then(
      (report) => (setReport(report), setProblem("")),
      (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
    );
  useEffect(() => void read(), [plugin]);
  const rank = ({ granted, is_wanted }: CapabilityReport) => (granted ? 0 : is_wanted ? 1 : 2);
  const sorted = [...(report?.capabilities ?? [])].sort((one, other) => rank(one) - rank(other));
  return (
    <>
      <Heading word="grants">
        <a href="#/grants">{say("back")}</a>
        <code>{plugin}</code>
      </Heading>
      <Problem of={problem} />
      {!report && !problem && <p>{say("loading")}</p>}
      {report?.withheld && (
        <p class="problem">
          {report.withheld} <Act label={say("confirmComponent")} act={() => change({ confirm: { plugin } }, false).then(read)} />
        </p>
      )}
      {sorted.map((one) => (
        <Capability key={`${one.capability} ${JSON.stringify(one.granted)}`} of={one} plugin={plugin} changed={() => void read()} />
      ))}
    </>
  );
}

export function Grants({ rest }: { rest: string }) {
  const plugins = useLive("plugins").value?.plugins;
  if (rest) return <OfPlugin plugin={rest} />;
  return (
    <>
      <Heading word="grants" />
      {!plugins ? (
        <p>{say("loading")}</p>
      ) : plugins.length === 0 ? (
        <Empty word="noPlugins" />
      ) : (
        <ul class="list">
          {[...new Map(plugins.map((plugin) => [plugin.name, plugin])).values()].map((plugin) => (
            <li key={plugin.name}>
              <a href={`#/grants/${part(plugin.name)}`}>{plugin.name}</a>{" "}
              {plugin.grants.length === 0 ? say("none") : plugin.grants.join(", ")}
              {plugin.withheld && <span class="near"> {plugin.withheld}</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
