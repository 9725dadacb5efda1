// What the host does at this moment.

import { useEffect, useRef, useState } from "preact/hooks";
import { part, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Rows, duration } from "../parts";
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

/** How much two numbers grew by in a second, of the last two minutes. */
function useRates(hosts: HostReport[] | undefined) {
  const before = useRef<{ at: number; pids: string; figures: Figures } | null>(null);
  const [rates, setRates] = useState<{ calls: number[]; failed: number[] }>({ calls: [], failed: [] });
  useEffect(() => {
    if (!hosts) return;
    const [at, pids, figures] = [performance.now(), hosts.map((host) => host.pid).join(), together(hosts)];
    const last = before.current;
    before.current = { at, pids, figures };
    // A host that came or went counts from nothing.
    if (!last || last.pids !== pids) return;
    const seconds = Math.max(0.001, (at - last.at) / 1_000);
    const add = (all: number[], grown: number) => [...all, Math.max(0, grown / seconds)].slice(-SPAN);
    setRates((rates) => ({
      calls: add(rates.calls, figures.calls_ended - last.figures.calls_ended),
      failed: add(rates.failed, figures.calls_failed - last.figures.calls_failed),
    }));
  }, [hosts]);
  return rates;
}

function Plot({ values, label }: { values: number[]; label: string }) {
  const most = Math.max(1, ...values);
  const points = values.map((value, at) => `${SPAN - values.length + at},${40 - (value / most) * 38}`).join(" ");
  const last = values.at(-1) ?? 0;
  return (
    <figure class="plot">
      <figcaption>
        {label} <strong>{last.toFixed(last < 10 ? 1 : 0)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${SPAN} 41`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${last.toFixed(1)}`}>
        <polyline points={points} />
      </svg>
    </figure>
  );
}

export function Now() {
  const hosts = useLive("hosts").value?.hosts;
  const host = hosts && together(hosts);
  const calls = useLive("calls").value?.calls;
  const rates = useRates(hosts);
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
        <Plot values={rates.calls} label={say("callsPerSecond")} />
        <Plot values={rates.failed} label={say("failed")} />
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
            { word: "tenant", cell: (call) => call.tenant },
            { word: "session", cell: (call) => call.session },
            { word: "client", cell: (call) => call.client ?? "" },
            { word: "duration", cell: (call) => duration(call.milliseconds), class: "number" },
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
