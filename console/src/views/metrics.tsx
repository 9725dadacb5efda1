// The metrics of the host, as Prometheus reads them.

import { useState } from "preact/hooks";
import { samples, useMetrics, type Sample } from "../metrics";
import { Empty, Heading, Problem, Rows } from "../parts";
import { say } from "../words";

export function Metrics() {
  const { text, problem } = useMetrics();
  const [sought, setSought] = useState("");
  const matches = ({ name, labels }: Sample) => `${name} ${labels}`.includes(sought);
  const shown = text === null ? null : samples(text).filter((sample) => !sample.name.endsWith("_bucket")).filter(matches);
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
            { word: "labels", cell: (one) => one.labels.replaceAll('"', "").replaceAll(",", ", "), class: "wide" },
            { word: "value", cell: (one) => one.value, class: "number" },
            { word: "what", cell: (one) => one.help, class: "wide" },
          ]}
        />
      )}
    </>
  );
}
