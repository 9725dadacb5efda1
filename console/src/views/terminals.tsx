// Terminals of all plugins, and one of them as it is.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, part, post, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Problem, Rows, SessionOf, Status } from "../parts";
import { say } from "../words";
import { Recording } from "./recording";

interface Size {
  columns: number;
  rows: number;
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

const READER = "wharf-screen-reader";

/** Whether terminals are written out for screen readers, which takes what is typed by other keyboards amiss. */
function isForScreenReader(): boolean {
  return localStorage.getItem(READER) === "yes";
}

/** What a terminal shows, drawn as it comes. */
class View {
  readonly terminal = new Terminal({ scrollback: 5_000, screenReaderMode: isForScreenReader(), disableStdin: true });
  private readonly source: EventSource;
  private typing: Promise<void> = Promise.resolve();
  private forces = false;

  constructor(
    readonly path: string,
    element: HTMLElement,
    over: () => void,
    private readonly refused: (problem: string) => void,
  ) {
    this.terminal.open(element);
    this.source = new EventSource(path);
    const on = <T,>(name: string, take: (data: T) => void) =>
      this.source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data)));
    on<Size & { text: string }>("screen", ({ columns, rows, text }) => {
      this.terminal.resize(columns, rows);
      this.terminal.reset();
      this.terminal.write(text);
    });
    on<{ text: string }>("text", ({ text }) => this.terminal.write(text));
    on<Size>("resize", ({ columns, rows }) => this.terminal.resize(columns, rows));
    on("end", () => {
      this.source.close();
      over();
    });
    this.terminal.onData((data) => this.type(data));
    this.terminal.onBinary((data) => this.type(data));
  }

  isForScreenReader(is: boolean): void {
    localStorage.setItem(READER, is ? "yes" : "no");
    this.terminal.options.screenReaderMode = is;
  }

  takesOver(isTyping: boolean): void {
    this.forces = isTyping;
    this.terminal.options.disableStdin = !isTyping;
    if (isTyping) this.terminal.focus();
  }

  /** Keys one after the other, whatever the network makes of them. */
  private type(text: string): void {
    const body = { content: base64(text), force: this.forces };
    this.typing = this.typing
      .then(() => post(`${this.path}/input`, body))
      .catch((error: unknown) => this.refused(error instanceof Refused ? error.message : String(error)));
  }

  close(): void {
    this.source.close();
    this.terminal.dispose();
  }
}

function One({ id }: { id: string }) {
  const info = useLive("terminals").value?.terminals.find((terminal) => terminal.id === id);
  const element = useRef<HTMLDivElement>(null);
  const view = useRef<View | null>(null);
  const fit = useRef<FitAddon | null>(null);
  const [isTyping, setTyping] = useState(false);
  const [isOver, setOver] = useState(false);
  const [problem, setProblem] = useState("");
  const path = `/v1/operator/terminals/${part(id)}`;
  useEffect(() => {
    const made = new View(path, element.current!, () => setOver(true), setProblem);
    fit.current = new FitAddon();
    made.terminal.loadAddon(fit.current);
    view.current = made;
    return () => made.close();
  }, [path]);
  useEffect(() => view.current?.takesOver(isTyping), [isTyping]);
  const resize = async () => {
    const size = fit.current?.proposeDimensions();
    if (size) await post(`${path}/resize`, { columns: size.cols, rows: size.rows });
  };
  return (
    <>
      <Heading word="terminal">
        <a href="#/terminals">{say("back")}</a>
        {info?.recording && <a href={`#/terminals/${part(id)}/recording`}>{say("recording")}</a>}
      </Heading>
      {info && (
        <p class="of">
          <code>{info.command}</code> <Status of={info.status} /> {say("plugin")} {info.plugin} · {say("tenant")} {info.tenant} ·{" "}
          {say("session")} {info.session}
          {info.turn && ` · ${say("turn")} ${info.turn.number} ${info.turn.reason ?? ""} ${info.turn.confidence ?? ""}`}
        </p>
      )}
      <div class="answers">
        <button type="button" aria-pressed={isTyping} aria-describedby="take-over" onClick={() => setTyping(!isTyping)} disabled={isOver}>
          {say(isTyping ? "handBack" : "takeOver")}
        </button>
        <Act label={say("fitSize")} act={resize} />
        <Act label={say("close")} class="danger" confirm="confirmStop" act={() => remove(path)} />
        <label>
          <input
            type="checkbox"
            checked={isForScreenReader()}
            onChange={(event) => view.current?.isForScreenReader(event.currentTarget.checked)}
          />{" "}
          {say("screenReader")}
        </label>
      </div>
      <p id="take-over" class="hint">
        {say("takeOverHint")}
      </p>
      <Problem of={problem} />
      {isOver && (
        <p role="status">
          {say("ended")} {info?.because ?? ""}
        </p>
      )}
      <div class="terminal" ref={element} />
    </>
  );
}

export function Terminals({ rest }: { rest: string }) {
  const terminals = useLive("terminals").value?.terminals;
  const [id = "", recording] = rest.split("/");
  if (recording === "recording") return <Recording id={id} />;
  if (id) return <One id={id} />;
  return (
    <>
      <Heading word="terminals" />
      {!terminals ? (
        <p>{say("loading")}</p>
      ) : terminals.length === 0 ? (
        <Empty word="noTerminals" />
      ) : (
        <Rows
          label={say("terminals")}
          rows={terminals}
          id={(terminal) => terminal.id}
          columns={[
            { word: "command", cell: (one) => <a href={`#/terminals/${part(one.id)}`}>{one.command}</a>, class: "wide" },
            { word: "status", cell: (one) => <Status of={one.status} /> },
            { word: "turn", cell: (one) => (one.turn ? `${one.turn.number} ${one.turn.reason ?? ""}` : "") },
            { word: "plugin", cell: (one) => one.plugin },
            { word: "tenant", cell: (one) => one.tenant },
            { word: "session", cell: (one) => <SessionOf of={one} /> },
            { word: "viewers", cell: (one) => one.viewers, class: "number" },
            { word: "started", cell: (one) => <Moment at={one.started} /> },
          ]}
        />
      )}
    </>
  );
}
