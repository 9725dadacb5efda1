// What the host does at this moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { part, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Rows, SessionOf, bytes, duration } from "../parts";
import type { HostReport } from "../types";
import { say } from "../words";

/** Seconds that plots show. */
const SPAN = 120;

const COUNTED = ["calls_running", "calls_waiting", "things_running", "calls_ended", "calls_failed", "denials"] as const;
type Figures = Record<(typeof COUNTED)[number], number>;

/** The figures of all hosts on the data directory together. */
function together(hosts: HostReport[]): Figures {
  const sum = (name: (typeof COUNTED)[number]) => hosts.reduce((sum, host) => sum + host[name], 0);
  return Object.fromEntries(COUNTED.map((name) => [name, sum(name)])) as Figures;
}

/** Seconds over whose calls a quantile is taken. */
const WINDOW = 15;

/** The calls of all hosts by the steps of their durations. */
function steps(hosts: HostReport[]): number[] {
  const sums: number[] = [];
  for (const host of hosts) host.durations.forEach((count, step) => (sums[step] = (sums[step] ?? 0) + count));
  return sums;
}

/** Milliseconds that a share of calls took at most, to the end of a step. */
function quantile(counts: number[], share: number): number {
  const total = counts.reduce((sum, count) => sum + (count ?? 0), 0);
  let seen = 0;
  const step = counts.findIndex((count) => (seen += count ?? 0) > 0 && seen >= share * total);
  return step < 0 ? 0 : ((4 + ((step + 1) % 4)) * 2 ** Math.floor((step + 1) / 4)) / 4_000;
}

interface Plotted {
  calls: number[];
  failed: number[];
  denials: number[];
  p50: number[];
  p95: number[];
}

/** What happened in each second of the last two minutes. */
function usePlotted(hosts: HostReport[] | undefined): Plotted {
  const before = useRef<{ at: number; pids: string; figures: Figures } | null>(null);
  const counted = useRef<number[][]>([]);
  const [plotted, setPlotted] = useState<Plotted>({ calls: [], failed: [], denials: [], p50: [], p95: [] });
  useEffect(() => {
    if (!hosts) return;
    const [at, pids, figures] = [performance.now(), hosts.map((host) => host.pid).join(), together(hosts)];
    const last = before.current;
    before.current = { at, pids, figures };
    // A host that came or went counts from nothing.
    if (!last || last.pids !== pids) {
      counted.current = [steps(hosts)];
      return;
    }
    counted.current = [...counted.current, steps(hosts)].slice(-WINDOW - 1);
    const first = counted.current[0]!;
    const recent = counted.current.at(-1)!.map((count, step) => (count ?? 0) - (first[step] ?? 0));
    const seconds = Math.max(0.001, (at - last.at) / 1_000);
    const add = (all: number[], grown: number) => [...all, Math.max(0, grown / seconds)].slice(-SPAN);
    const next = (all: number[], value: number) => [...all, value].slice(-SPAN);
    setPlotted((plotted) => ({
      calls: add(plotted.calls, figures.calls_ended - last.figures.calls_ended),
      failed: add(plotted.failed, figures.calls_failed - last.figures.calls_failed),
      denials: add(plotted.denials, figures.denials - last.figures.denials),
      p50: next(plotted.p50, quantile(recent, 0.5)),
      p95: next(plotted.p95, quantile(recent, 0.95)),
    }));
  }, [hosts]);
  return plotted;
}

function Plot(props: { values: number[]; label: string; shown?: (value: number) => string }) {
  const { values, label } = props;
  const shown = props.shown ?? ((value: number) => value.toFixed(value < 10 ? 1 : 0));
  const most = Math.max(props.shown ? 0.001 : 1, ...values);
  const points = values.map((value, at) => `${SPAN - values.length + at},${40 - (value / most) * 38}`).join(" ");
  const last = values.at(-1) ?? 0;
  return (
    <figure class="plot">
      <figcaption>
        {label} <strong>{shown(last)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${SPAN} 41`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${shown(last)}`}>
        <polyline points={points} />
      </svg>
    </figure>
  );
}

export function Now() {
  const hosts = useLive("hosts").value?.hosts;
  const host = hosts && together(hosts);
  const calls = useLive("calls").value?.calls;
  const plotted = usePlotted(hosts);
  return (
    <>
      <Heading word="now" />
      {host && (
        <dl class="figures">
          <div>
            <dt>{say("running")}</dt>
            <dd>{host.calls_running}</dd>
          </div>
          <div>
            <dt>{say("waiting")}</dt>
            <dd>{host.calls_waiting}</dd>
          </div>
          <div>
            <dt>{say("things")}</dt>
            <dd>{host.things_running}</dd>
          </div>
          <div>
            <dt>{say("failed")}</dt>
            <dd>
              {host.calls_failed} / {host.calls_ended}
            </dd>
          </div>
          <div>
            <dt>{say("denials")}</dt>
            <dd>{host.denials}</dd>
          </div>
        </dl>
      )}
      <div class="plots">
        <Plot values={plotted.calls} label={say("callsPerSecond")} />
        <Plot values={plotted.failed} label={say("failed")} />
        <Plot values={plotted.denials} label={say("denials")} />
        <Plot values={plotted.p50} label="p50" shown={duration} />
        <Plot values={plotted.p95} label="p95" shown={duration} />
      </div>
      {!calls ? (
        <p>{say("loading")}</p>
      ) : calls.length === 0 ? (
        <Empty word="noCalls" />
      ) : (
        <Rows
          label={say("now")}
          rows={calls}
          id={(call) => call.id}
          columns={[
            { word: "tool", cell: (call) => <a href={`#/audit/${part(`id=${call.id}`)}`}>{call.tool}</a> },
            { word: "plugin", cell: (call) => call.plugin },
            { word: "tenant", cell: (call) => call.tenant },
            { word: "session", cell: (call) => <SessionOf of={call} /> },
            { word: "client", cell: (call) => call.client ?? "" },
            { word: "duration", cell: (call) => duration(call.milliseconds), class: "number" },
            { word: "hostCalls", cell: (call) => call.host_calls, class: "number" },
            { word: "memory", cell: (call) => (call.memory_bytes > 0 ? bytes(call.memory_bytes) : ""), class: "number" },
            {
              word: "action",
              cell: (call) => (
                <Act label={say("cancel")} confirm="confirmStop" act={() => remove(`/v1/operator/calls/${part(call.id)}`)} />
              ),
            },
          ]}
        />
      )}
    </>
  );
}
