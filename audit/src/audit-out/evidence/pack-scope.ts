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

export type ControlFindings = { id: string; title: string; count: number; firstIndex: number | null; lastIndex: number | null };
