// Plugins that come and go: first what a component is, then the change itself, of just that component.

import { useState } from "preact/hooks";
import { answerOf } from "../api";
import { Act, Chips, bytes } from "../parts";
import type { PluginChange, PluginChangeReport } from "../types";
import { say } from "../words";

const change = (change: PluginChange, dry_run: boolean) =>
  answerOf<PluginChangeReport>("/v1/operator/plugins", { change, dry_run });

/** What was found, and the button that takes it. */
function Found(props: { of: PluginChangeReport; label: string; take: (digest: string) => Promise<unknown>; leave: () => void }) {
  const { of, label, take, leave } = props;
  const found = of.component;
  if (!found) return null;
  const isSame = of.before === found.digest;
  return (
    <div class="proposal" role="group" aria-label={say("found")}>
      <h3>
        {of.plugin} {isSame && <span class="hint">{say("sameComponent")}</span>}
      </h3>
      <dl>
        <dt>{say("source")}</dt>
        <dd>{found.source}</dd>
        <dt>{say("digest")}</dt>
        <dd>
          <code>{found.digest}</code> {bytes(found.bytes)}
        </dd>
        <dt>{say("signedBy")}</dt>
        <dd>{found.signer ? <code>{found.signer}</code> : say("nobodyTrusted")}</dd>
        <dt>{say("wanted")}</dt>
        <dd>
          <Chips of={found.wanted_grants} />
        </dd>
        {of.before && found.newly_wanted.length > 0 && (
          <>
            <dt>{say("newlyWanted")}</dt>
            <dd class="near">
              <Chips of={found.newly_wanted} />
            </dd>
          </>
        )}
        <dt>{say("grants")}</dt>
        <dd>
          <Chips of={found.grants} />
        </dd>
        <dt>{say("tools")}</dt>
        <dd>
          <Chips of={found.tools} />
        </dd>
      </dl>
      <div class="answers">
        <Act label={label} class="primary" act={() => take(found.digest)} />
        <button type="button" onClick={leave}>
          {say("leaveIt")}
        </button>
      </div>
    </div>
  );
}

function Field(props: { id: string; label: string; value: string; hint?: string; write: (value: string) => void }) {
  const { id, hint } = props;
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <input id={id} value={props.value} aria-describedby={hint && `${id}-hint`} onInput={(event) => props.write(event.currentTarget.value)} />
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

function Check(props: { label: string; value: boolean; write: (value: boolean) => void }) {
  return (
    <label>
      <input type="checkbox" checked={props.value} onChange={(event) => props.write(event.currentTarget.checked)} /> {props.label}
    </label>
  );
}

/** Adds a plugin. */
export function Add() {
  const [source, setSource] = useState("");
  const [name, setName] = useState("");
  const [pinned, setPinned] = useState(false);
  const [functions, setFunctions] = useState(false);
  const [found, setFound] = useState<PluginChangeReport | null>(null);
  const adding = (digest: string | null): PluginChange => ({
    add: { source: source.trim(), name: name.trim() || null, digest, pinned, functions },
  });
  const done = () => (setFound(null), setSource(""), setName(""));
  return (
    <details class="plugin">
      <summary>{say("addPlugin")}</summary>
      <Field id="add-source" label={say("source")} value={source} hint={say("sourceHint")} write={(value) => (setSource(value), setFound(null))} />
      <Field id="add-name" label={say("nameOrNone")} value={name} write={(value) => (setName(value), setFound(null))} />
      <Check label={say("pinned")} value={pinned} write={setPinned} />
      <Check label={say("functions")} value={functions} write={(value) => (setFunctions(value), setFound(null))} />
      <Act label={say("lookAt")} act={() => change(adding(null), true).then(setFound)} />
      {found && <Found of={found} label={say("add")} take={(digest) => change(adding(digest), false).then(done)} leave={() => setFound(null)} />}
    </details>
  );
}

/** Fetches a plugin again that was added, or removes it. */
export function Replace({ plugin }: { plugin: string }) {
  const [source, setSource] = useState("");
  const [confirm, setConfirm] = useState(false);
  const [found, setFound] = useState<PluginChangeReport | null>(null);
  const updating = (digest: string | null): PluginChange => ({
    update: { plugin, source: source.trim() || null, digest, confirm },
  });
  return (
    <details>
      <summary>{say("updateOrRemove")}</summary>
      <Field id={`source-${plugin}`} label={say("otherSource")} value={source} write={(value) => (setSource(value), setFound(null))} />
      <Check label={say("keepsGrants")} value={confirm} write={(value) => (setConfirm(value), setFound(null))} />
      <div class="answers">
        <Act label={say("lookAt")} act={() => change(updating(null), true).then(setFound)} />
        <Act label={say("removePlugin")} class="danger" confirm="confirmRemovePlugin" act={() => change({ remove: { plugin } }, false)} />
      </div>
      {found && (
        <Found of={found} label={say("update")} take={(digest) => change(updating(digest), false).then(() => setFound(null))} leave={() => setFound(null)} />
      )}
    </details>
  );
}
