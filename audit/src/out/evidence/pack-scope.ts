/** What a pack is about, and what was found for it: the same for every form in which it is written. */
import type { Framework } from "./control-map.ts";

export type PackScope = {
  name: string;
  framework: Framework;
  origin: string;
  size: number;
  /** Hex. */
  root: string;
  /** Of the first and of the last entry, by auditd's clock. */
  from: string;
  to: string;
};

export type ControlFindings = {
  id: string;
  title: string;
  /** What no log of the appliance can show for it. */
  limits: string;
  count: number;
  /** Of these, how many tell of something that was refused, or failed otherwise: they are none of what was done. */
  refused: number;
  failed: number;
  /** Entries by the process that told them. */
  sources: Map<string, number>;
  firstIndex: number | null;
  lastIndex: number | null;
};

/** Files of a pack that others point to, by their hashes. */
export type PackFile = { name: string; title: string; sha256: string };

/** `coordinator-gate 12, s3-front 3`, in order of name. */
export function sourcesText({ sources }: ControlFindings): string {
  return [...sources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([prod, count]) => `${prod} ${count}`)
    .join(", ");
}
