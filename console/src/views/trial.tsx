// A tool that is tried with arguments that a person fills in.

import { useEffect, useState } from "preact/hooks";
import { Refused, answerOf, get, part } from "../api";
import { Act, Heading, Problem } from "../parts";
import type { Property, ToolReport, TrialReport } from "../types";
import { say } from "../words";

const kind = ({ type }: Property) => (Array.isArray(type) ? (type.find((one) => one !== "null") ?? "") : (type ?? ""));

/** What was written, as the argument that it stands for; nothing where nothing was written. */
function argument(property: Property, written: string): unknown {
  if (written === "") return undefined;
  if (property.enum) return property.enum.find((one) => String(one) === written);
  return kind(property) === "string" ? written : JSON.parse(written);
}

function Field(props: { name: string; property: Property; isRequired: boolean; value: string; write: (value: string) => void }) {
  const { name, property, isRequired, value, write } = props;
  const id = `argument-${name}`;
  const usual = property.default === undefined || property.default === null ? "" : JSON.stringify(property.default);
  const choices = property.enum?.map(String) ?? (kind(property) === "boolean" ? ["true", "false"] : null);
  const isLong = !["string", "integer", "number"].includes(kind(property));
  const common = { id, value, required: isRequired, "aria-describedby": `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code> {isRequired && <span class="hint">{say("required")}</span>}
      </label>
      {choices ? (
        <select {...common} onInput={(event) => write(event.currentTarget.value)}>
          <option value="">{usual || "–"}</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...common} rows={3} placeholder={usual || "JSON"} onInput={(event) => write(event.currentTarget.value)} />
      ) : (
        <input {...common} placeholder={usual} onInput={(event) => write(event.currentTarget.value)} />
      )}
      <p id={`${id}-hint`} class="hint">
        {property.description}
      </p>
    </div>
  );
}

function Answer({ of }: { of: TrialReport }) {
  return (
    <section aria-label={say("answer")} aria-live="polite">
      <h2>{say(of.is_error ? "failed" : "answer")}</h2>
      {of.asks?.map((asked) => (
        <p class="problem" key={asked}>
          {say("asksFirst")} {asked}
        </p>
      ))}
      {of.content.map((one, index) => (
        <pre key={index} tabIndex={0}>
          {one.text ?? `[${one.mime_type}, ${one.bytes} B]`}
        </pre>
      ))}
      {of.structured !== undefined && (
        <details>
          <summary>JSON</summary>
          <pre tabIndex={0}>{JSON.stringify(of.structured, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}

export function Trial({ name }: { name: string }) {
  const [tool, setTool] = useState<ToolReport | null>(null);
  const [problem, setProblem] = useState("");
  const [written, setWritten] = useState<Record<string, string>>({});
  const [session, setSession] = useState("console");
  const [answer, setAnswer] = useState<TrialReport | null>(null);
  useEffect(() => {
    get<ToolReport>(`/v1/operator/tools/${part(name)}`).then(setTool, (error: unknown) =>
      setProblem(error instanceof Refused ? error.message : String(error)),
    );
  }, [name]);
  const properties = Object.entries(tool?.input_schema.properties ?? {});
  const run = async () => {
    setAnswer(null);
    const given = properties.map(([name, property]) => {
      try {
        return [name, argument(property, written[name] ?? "")] as const;
      } catch {
        throw new Error(say("noJson", { name }));
      }
    });
    const args = Object.fromEntries(given.filter(([, value]) => value !== undefined));
    setAnswer(await answerOf<TrialReport>(`/v1/operator/tools/${part(name)}/calls`, { arguments: args, session }));
  };
  return (
    <>
      <Heading word="tryTool">
        <a href="#/plugins">{say("back")}</a>
      </Heading>
      <Problem of={problem} />
      {tool && (
        <article class="plugin" aria-label={name}>
          <h2>
            <code>{name}</code>
          </h2>
          <p class="hint">{tool.description}</p>
          {properties.map(([name, property]) => (
            <Field
              key={name}
              name={name}
              property={property}
              isRequired={tool.input_schema.required?.includes(name) ?? false}
              value={written[name] ?? ""}
              write={(value) => setWritten((before) => ({ ...before, [name]: value }))}
            />
          ))}
          <div class="answers">
            <label>
              {say("session")}{" "}
              <input value={session} onInput={(event) => setSession(event.currentTarget.value)} />
            </label>
            <Act label={say("call")} class="primary" act={run} />
          </div>
        </article>
      )}
      {answer && <Answer of={answer} />}
    </>
  );
}
