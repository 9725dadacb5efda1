// The metrics of the host that serves this page, as Prometheus reads them.

import { getText } from "./api";
import { useRead } from "./parts";

const EACH = 5_000;

export interface Sample {
  name: string;
  /** As the text has them: `plugin="planning",tool="create_goal"`. */
  labels: string;
  value: string;
  help: string;
}

/** The samples of an OpenMetrics text. */
export function samples(text: string): Sample[] {
  const helps = new Map<string, string>();
  const found: Sample[] = [];
  for (const line of text.split("\n")) {
    const help = /^# HELP (\S+) (.*)$/.exec(line);
    if (help) helps.set(help[1]!, help[2]!);
    const sample = /^([a-z_:]+)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!sample) continue;
    const [, name = "", labels = "", value = ""] = sample;
    const base = name.replace(/_(total|sum|count|info|bucket)$/, "");
    found.push({ name, labels, value, help: helps.get(base) ?? "" });
  }
  return found;
}

/** The text, again and again. */
export function useMetrics() {
  const { value: text, problem } = useRead(() => getText("/v1/operator/metrics"), EACH, null);
  return { text, problem };
}

export interface PluginFigures {
  calls: number;
  denials: number;
  /** Milliseconds within which 95 of 100 calls ended: the end of a step of the histogram. */
  p95: number | null;
}

const label = (labels: string, name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1];

/** What is counted of each plugin. */
export function ofPlugins(text: string): Map<string, PluginFigures> {
  const figures = new Map<string, PluginFigures>();
  const steps = new Map<string, Map<number, number>>();
  for (const { name, labels, value } of samples(text)) {
    const plugin = label(labels, "plugin");
    if (plugin === undefined) continue;
    const of = figures.get(plugin) ?? { calls: 0, denials: 0, p95: null };
    figures.set(plugin, of);
    if (name === "wharf_calls_total") of.calls += Number(value);
    if (name === "wharf_denials_total") of.denials += Number(value);
    if (name !== "wharf_call_duration_seconds_bucket") continue;
    const [end, all] = [Number(label(labels, "le")?.replace("+Inf", "Infinity")), steps.get(plugin) ?? new Map()];
    steps.set(plugin, all.set(end, (all.get(end) ?? 0) + Number(value)));
  }
  for (const [plugin, all] of steps) {
    const ends = [...all.entries()].sort(([one], [other]) => one - other);
    const total = ends.at(-1)?.[1] ?? 0;
    const end = ends.find(([, count]) => count >= 0.95 * total)?.[0];
    if (total > 0 && end !== undefined) figures.get(plugin)!.p95 = end * 1_000;
  }
  return figures;
}
