/** The log's time as lanes for the eye: when it was written, when witnesses saw it, which producers were away. Places are parts of the whole. */
import type { Report } from "../verify.ts";

const MAX_SILENT_LANES = 6;

type Stretch = {
  kind: "DARK" | "STOPPED" | "SILENT" | "LAPSE";
  from: string;
  to: string;
  index: number;
};
export type Bar = Stretch & { at: number; width: number };
export type Lane = { name: string; state: "written" | "witnessed" | "connected"; bars: Bar[] };
export type Picture = {
  from: string;
  to: string;
  lanes: Lane[] /** Producers with a silence that have no lane. */;
  left: number;
};

/** Draws the log's time as lanes; null for a log of no length, or one that was not read to its end. */
export function pictureOf({ from, to, findings, lapses }: Report): Picture | null {
  if (from === null || to === null || findings === null) return null;
  const [startMs, endMs] = [Date.parse(from), Date.parse(to)];
  if (!(startMs < endMs)) return null;
  const place = (stretch: Stretch): Bar => {
    const at = Math.max(0, (Date.parse(stretch.from) - startMs) / (endMs - startMs));
    return {
      ...stretch,
      at,
      width: Math.min(1, (Date.parse(stretch.to) - startMs) / (endMs - startMs)) - at,
    };
  };
  const lanes: Lane[] = [{ name: "log", state: "written", bars: [] }];
  if (lapses !== null)
    lanes.push({
      name: "witnesses",
      state: "witnessed",
      bars: lapses.map((lapse) =>
        place({ kind: "LAPSE", from: lapse.fromTime, to: lapse.toTime, index: lapse.from }),
      ),
    });
  const silent = new Map<string, Bar[]>();
  for (const { kind, prod, index, from, to } of findings.stretches) {
    const bar = place({ kind, from, to, index });
    if (prod === undefined) lanes[0]!.bars.push(bar);
    else silent.set(prod, [...(silent.get(prod) ?? []), bar]);
  }
  for (const [name, bars] of [...silent].slice(0, MAX_SILENT_LANES))
    lanes.push({ name, state: "connected", bars });
  return { from, to, lanes, left: Math.max(0, silent.size - MAX_SILENT_LANES) };
}
