// What happened, by anything; and the whole story of one call.

import { get, part } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Problem, Rows, Status, duration, useRead } from "../parts";
import type { AuditLine } from "../types";
import { say } from "../words";

const FILTERS = ["kind", "plugin", "tool", "tenant", "session", "outcome", "function"] as const;
const KINDS = ["call", "host-call", "denied", "approval", "change", "operator", "authentication", "limited"];
/** How often new lines are looked for. */
const EACH = 3_000;

type Filters = Record<string, string>;

function read(rest: string): Filters {
  return Object.fromEntries(new URLSearchParams(rest));
}

async function lines(rest: string): Promise<AuditLine[]> {
  const answer = await get<{ lines: AuditLine[] }>(`/v1/operator/audit?last=500${rest ? `&${rest}` : ""}`);
  return answer.lines.reverse();
}

function what(line: AuditLine): string {
  const tool = line.plugin ? `${line.plugin} ${line.tool ?? ""}` : (line.tool ?? "");
  const times = (line.count ?? 1) > 1 ? ` × ${line.count}` : "";
  const change = line.before || line.after ? `${line.before || "–"} → ${line.after || "–"}` : "";
  return [tool, line.function, line.asked, change].filter(Boolean).join(" · ") + times;
}

/** Who asked: the token's name and subject, and what the program calls itself. */
function Who({ of }: { of: AuditLine }) {
  const names = [of.token, of.subject, of.client].filter(Boolean).join(" · ");
  return (
    <>
      {names} {of.address && <small>{of.address}</small>}
    </>
  );
}

/** Where the same is told by the spans of the call, if they are kept and the configuration says where. */
function Trace({ of }: { of: AuditLine[] }) {
  const page = useLive("hosts").value?.hosts[0]?.trace_page;
  const trace = of.find((line) => line.trace)?.trace;
  if (!trace) return null;
  const name = `${say("trace")} ${trace}`;
  if (!page) return <small>{name}</small>;
  return (
    <a href={page.replace("{trace}", part(trace))} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}

/** A call with what it asked the host for, each as long as it took. */
function Story({ lines }: { lines: AuditLine[] }) {
  const call = lines.find((line) => line.kind === "call");
  const end = (line: AuditLine) => Date.parse(line.time);
  const begin = (line: AuditLine) => end(line) - (line.microseconds ?? 0) / 1_000;
  const first = Math.min(...lines.map(begin));
  const span = Math.max(1, Math.max(...lines.map(end)) - first);
  return (
    <section aria-label={say("story")}>
      <h2>
        {say("story")} <code>{call ? what(call) : ""}</code> <Trace of={lines} />
      </h2>
      <ol class="story">
        {[...lines].reverse().map((line, index) => (
          <li key={index}>
            <span class="what">
              <Status of={line.kind} /> {what(line)} <Status of={line.outcome ?? ""} />
            </span>
            <span class="bar" aria-hidden="true">
              <span
                style={{
                  marginLeft: `${((begin(line) - first) / span) * 100}%`,
                  width: `${Math.max(0.5, ((end(line) - begin(line)) / span) * 100)}%`,
                }}
              />
            </span>
            <span class="number">{duration((line.microseconds ?? 0) / 1_000)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Hands the lines to the person as a file, the oldest first. */
async function exportLines(rest: string) {
  const { lines } = await get<{ lines: AuditLine[] }>(`/v1/operator/audit?last=2000${rest ? `&${rest}` : ""}`);
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  link.download = "wharf-audit.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
}

export function Audit({ rest }: { rest: string }) {
  const { value: found, problem } = useRead(() => lines(rest), EACH, rest);
  const filters = read(rest);
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(rest);
    if (value) next.set(name, value);
    else next.delete(name);
    location.hash = `#/audit/${part(next.toString())}`;
  };
  return (
    <>
      <Heading word="audit">
        <Act label={say("export")} act={() => exportLines(rest)} />
      </Heading>
      <form class="filters" onSubmit={(event) => event.preventDefault()} aria-label={say("filter")}>
        {FILTERS.map((name) => (
          <label key={name}>
            {name === "function" ? say("what") : say(name)}
            {name === "kind" ? (
              <select value={filters[name] ?? ""} onChange={(event) => change(name, event.currentTarget.value)}>
                <option value="">{say("all")}</option>
                {KINDS.map((kind) => (
                  <option key={kind}>{kind}</option>
                ))}
              </select>
            ) : (
              <input value={filters[name] ?? ""} onChange={(event) => change(name, event.currentTarget.value.trim())} />
            )}
          </label>
        ))}
        {filters["id"] && (
          <button type="button" onClick={() => change("id", "")}>
            {say("all")}
          </button>
        )}
      </form>
      <Problem of={problem} />
      {found && filters["id"] && found.length > 0 && <Story lines={found} />}
      {!found ? (
        <p>{say("loading")}</p>
      ) : found.length === 0 ? (
        <Empty word="noLines" />
      ) : (
        <Rows
          label={say("audit")}
          rows={found}
          id={(line) => `${line.time} ${line.kind} ${line.id ?? ""} ${line.function ?? ""} ${line.asked ?? ""}`}
          columns={[
            { word: "time", cell: (line) => <Moment at={line.time} /> },
            { word: "kind", cell: (line) => <Status of={line.kind} /> },
            { word: "outcome", cell: (line) => (line.outcome ? <Status of={line.outcome} /> : "") },
            {
              word: "what",
              cell: (line) => (line.id ? <a href={`#/audit/${part(`id=${line.id}`)}`}>{what(line)}</a> : what(line)),
              class: "wide",
            },
            { word: "who", cell: (line) => <Who of={line} /> },
            { word: "tenant", cell: (line) => line.tenant ?? "" },
            { word: "session", cell: (line) => line.session ?? "" },
            { word: "duration", cell: (line) => duration((line.microseconds ?? 0) / 1_000), class: "number" },
          ]}
        />
      )}
    </>
  );
}
