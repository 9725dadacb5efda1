// The recording of a terminal, played.

import { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused, get, part } from "../api";
import { Heading, Problem, duration } from "../parts";
import { say } from "../words";

/** What happened in a terminal, so many milliseconds after its begin. */
interface Happening {
  at: number;
  kind: string;
  data: string;
}

interface Cast {
  columns: number;
  rows: number;
  happenings: Happening[];
}

/** Pauses are played no longer than this. */
const LONGEST_PAUSE = 2_000;
const SPEEDS = [0.5, 1, 2, 4, 8];

/** An asciicast, version 2 (times since the begin) or 3 (times since the event before). */
function parse(text: string): Cast {
  const [first = "{}", ...lines] = text.split("\n");
  const header = JSON.parse(first);
  const cast: Cast = { columns: header.width ?? header.term?.cols ?? 80, rows: header.height ?? header.term?.rows ?? 24, happenings: [] };
  let clock = 0;
  let played = 0;
  for (const line of lines) {
    if (!line.startsWith("[")) continue;
    let event: [number, string, string];
    try {
      event = JSON.parse(line);
    } catch {
      // It is still being written.
      continue;
    }
    const [seconds, kind, data] = event;
    const passed = (header.version === 3 ? seconds : seconds - clock) * 1_000;
    clock = seconds;
    played += Math.min(Math.max(passed, 0), LONGEST_PAUSE);
    cast.happenings.push({ at: played, kind, data });
  }
  return cast;
}

async function load(terminal: string): Promise<Cast> {
  let text = "";
  for (let from = 0; ; ) {
    const piece = await get<{ next: number; text: string }>(`/v1/operator/terminals/${part(terminal)}/recording?from=${from}`);
    if (piece.text === "") return parse(text);
    text += piece.text;
    from = piece.next;
  }
}

class Player {
  readonly terminal = new Terminal({ disableStdin: true, scrollback: 5_000 });
  private next = 0;

  constructor(
    element: HTMLElement,
    private readonly cast: Cast,
  ) {
    this.terminal.open(element);
    this.begin();
  }

  private begin(): void {
    this.next = 0;
    this.terminal.resize(this.cast.columns, this.cast.rows);
    this.terminal.reset();
  }

  /** Shows what was there at this time. */
  show(time: number): void {
    const last = this.cast.happenings[this.next - 1];
    if (last && last.at > time) this.begin();
    for (; this.next < this.cast.happenings.length; this.next += 1) {
      const { at, kind, data } = this.cast.happenings[this.next]!;
      if (at > time) return;
      const size = kind === "r" ? /^(\d+)x(\d+)$/.exec(data) : null;
      if (size) this.terminal.resize(Number(size[1]), Number(size[2]));
      if (kind === "o") this.terminal.write(data);
    }
  }
}

export function Recording({ id }: { id: string }) {
  const element = useRef<HTMLDivElement>(null);
  const player = useRef<Player | null>(null);
  const [end, setEnd] = useState<number | null>(null);
  const [time, setTime] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isGone = false;
    load(id).then(
      (cast) => {
        if (isGone) return;
        player.current = new Player(element.current!, cast);
        player.current.show(0);
        setEnd(cast.happenings.at(-1)?.at ?? 0);
        setPlaying(true);
      },
      (error: unknown) => setProblem(error instanceof Refused ? error.message : String(error)),
    );
    return () => {
      isGone = true;
      player.current?.terminal.dispose();
    };
  }, [id]);
  useEffect(() => player.current?.show(time), [time]);
  useEffect(() => {
    if (!isPlaying || end === null) return;
    let frame = 0;
    let before = performance.now();
    const step = (now: number) => {
      const passed = (now - before) * speed;
      before = now;
      setTime((time) => Math.min(time + passed, end));
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, end]);
  useEffect(() => {
    if (end !== null && time >= end) setPlaying(false);
  }, [time, end]);
  const press = () => {
    if (end !== null && time >= end) setTime(0);
    setPlaying(!isPlaying);
  };
  return (
    <>
      <Heading word="recording">
        <a href={`#/terminals/${part(id)}`}>{say("back")}</a>
      </Heading>
      <Problem of={problem} />
      <div class="answers">
        <button type="button" disabled={end === null} onClick={press}>
          {say(isPlaying ? "pause" : "play")}
        </button>
        <label class="grows">
          <span class="heard">{say("time")}</span>
          <input
            type="range"
            min={0}
            max={Math.ceil(end ?? 0)}
            value={time}
            aria-valuetext={duration(time)}
            onInput={(event) => (setPlaying(false), setTime(Number(event.currentTarget.value)))}
          />
        </label>
        <span class="number">
          {duration(time)} / {duration(end ?? 0)}
        </span>
        <label>
          {say("speed")}{" "}
          <select value={speed} onInput={(event) => setSpeed(Number(event.currentTarget.value))}>
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="terminal" ref={element} />
    </>
  );
}
