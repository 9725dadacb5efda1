// The metrics of the host, as Prometheus reads them.

import { useEffect, useState } from "preact/hooks";
import { Refused, getText } from "../api";
import { Empty, Heading, Problem, Rows } from "../parts";
import { say } from "../words";

const EACH = 5_000;

interface Sample {
  name: string;
  labels: string;
  value: string;
  help: string;
}

/** The samples of an OpenMetrics text, without the steps of histograms. */
function samples(text: string): Sample[] {
  const helps = new Map<string, string>();
  const found: Sample[] = [];
  for (const line of text.split("\n")) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help) helps.set(help[1]!, help[2]!);
    const sample = /^([a-z_:]+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!sample || sample[1]!.endsWith("_bucket")) continue;
    const [, name = "", labels = "", value = ""] = sample;
    const base = name.replace(/_(total|sum|count|info)$/, "");
    found.push({ name, labels: labels.replaceAll('"', "").replaceAll(",", ", "), value, help: helps.get(base) ?? "" });
  }
  return found;
}

export function Metrics() {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const [sought, setSought] = useState("");
  useEffect(() => {
    const read = () =>
      getText("/v1/operator/metrics").then(
        (text) => (setText(text), setProblem("")),
        (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
      );
    void read();
    const again = setInterval(read, EACH);
    return () => clearInterval(again);
  }, []);
  const matches = ({ name, labels }: Sample) => `${name} ${labels}`.includes(sought);
  const shown = text === null ? null : samples(text).filter(matches);
  return (
    <>
      <Heading word="metrics">
        <label>
          <span class="heard">{say("filter")}</span>
          <input value={sought} placeholder={say("filter")} onInput={(event) => setSought(event.currentTarget.value)} />
        </label>
      </Heading>
      <Problem of={problem} />
      {!shown ? (
        <p>{say("loading")}</p>
      ) : shown.length === 0 ? (
        <Empty word="noMetrics" />
      ) : (
        <Rows
          label={say("metrics")}
          rows={shown}
          id={(one) => `${one.name} ${one.labels}`}
          columns={[
            { word: "name", cell: (one) => <code title={one.help}>{one.name}</code>, class: "wide" },
            { word: "labels", cell: (one) => one.labels, class: "wide" },
            { word: "value", cell: (one) => one.value, class: "number" },
            { word: "what", cell: (one) => one.help, class: "wide" },
          ]}
        />
      )}
    </>
  );
}
