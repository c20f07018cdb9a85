/** What was told to whom, across restarts: a second start tells nothing twice, and a killed one forgets nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Known } from "./decisions/follow-alerts.ts";
import type { DeliveryQueue } from "./decisions/delivery-queue.ts";

export type NotifierState = { known: Known; queues: Readonly<Record<string, DeliveryQueue>> };

const EMPTY: NotifierState = { known: {}, queues: {} };
/** The rest is ours alone: nobody else writes in this folder. */
const Shape = Type.Object({
  formatVersion: Type.Literal(1),
  known: Type.Record(Type.String(), Type.Object({ seenAt: Type.Number(), toldAt: Type.Number() })),
  queues: Type.Record(Type.String(), Type.Object({ pending: Type.Array(Type.Unknown()) })),
});

export class StateFile {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, "state.json");
  }

  /** Nothing where there is no such file, or one that cannot be read: then what is in force is told once more. */
  read(): NotifierState {
    try {
      const value: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return Value.Check(Shape, value) ? (value as unknown as NotifierState) : EMPTY;
    } catch {
      return EMPTY;
    }
  }

  write({ known, queues }: NotifierState): void {
    replaceFileNow(this.#file, JSON.stringify({ formatVersion: 1, known, queues }), 0o600);
  }
}
