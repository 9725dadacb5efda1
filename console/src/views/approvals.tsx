// Calls that wait for a person, in words.

import { useState } from "preact/hooks";
import { part, post } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, duration } from "../parts";
import type { ApprovalReport } from "../types";
import { say } from "../words";
import { change } from "./grants";

/** JSON as a person reads it; as it is where it was cut. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function Waiting({ call }: { call: ApprovalReport }) {
  const [reason, setReason] = useState("");
  const answer = (answer: unknown) => post(`/v1/operator/approvals/${part(call.id)}`, { answer });
  const rule = call.rule;
  const isCut = call.argument_bytes > new TextEncoder().encode(call.arguments).length;
  return (
    <article class="approval" aria-label={call.tool}>
      <h2>
        <span class="who">
          {call.client ?? call.tenant} {say(call.wants === undefined ? "wants" : "runs")}
        </span>{" "}
        <code>{call.tool}</code>
      </h2>
      {call.wants !== undefined && (
        <>
          <p>{say("wantsTo")}</p>
          <pre tabIndex={0}>{call.wants}</pre>
          <p>{say("calledWith")}</p>
        </>
      )}
      <p class="of">
        {say("plugin")} {call.plugin} · {say("tenant")} {call.tenant} · {say("session")} {call.session} · {say("left")}{" "}
        {duration(call.left_milliseconds)}
      </p>
      <pre tabIndex={0}>{readable(call.arguments)}</pre>
      {isCut && <p class="hint">{say("cut", { bytes: call.argument_bytes })}</p>}
      <div class="answers">
        <Act label={say("allowOnce")} class="primary" act={() => answer("once")} />
        <Act label={say("allowSession")} act={() => answer("session")} />
        {call.wants === undefined ? (
          <Act
            label={say("allowAlways")}
            confirm="confirmAlways"
            act={() => change({ "always-allow": { tool: call.tool } }, false)}
          />
        ) : (
          rule && (
            <Act
              label={say("allowAlways")}
              confirm="confirmAlwaysAct"
              act={() => change({ "always-allow-act": rule }, false)}
            />
          )
        )}
        <label>
          <span class="heard">{say("reason")}</span>
          <input value={reason} placeholder={say("reason")} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <Act label={say("refuse")} class="danger" act={() => answer({ refuse: reason })} />
      </div>
    </article>
  );
}

export function Approvals() {
  const waiting = useLive("approvals").value?.approvals;
  return (
    <>
      <Heading word="approvals" />
      {!waiting ? (
        <p>{say("loading")}</p>
      ) : waiting.length === 0 ? (
        <Empty word="noApprovals" />
      ) : (
        waiting.map((call) => <Waiting key={call.id} call={call} />)
      )}
    </>
  );
}
