/** The supervisor's control socket: operations of root's commands. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ask } from "@resontech/frame/ask";
import { answering, defineOperation, type Operation } from "@resontech/frame/operation";
import { serve } from "@resontech/frame/serve";
import type { Logger } from "pino";
import { type Static, type TSchema, Type } from "typebox";
import type { PartStatus } from "./supervisor.ts";

/** As {@link PartStatus}. A field that another release has as well is passed over. */
const Status = Type.Unsafe<PartStatus>(
  Type.Object({ name: Type.String(), phase: Type.String(), isHeld: Type.Boolean() }),
);
const Reply = Type.Object({ parts: Type.Array(Status) });
export type SupervisorReply = Static<typeof Reply>;

const closed = { additionalProperties: false } as const;
const Names = Type.Object({ parts: Type.Array(Type.String(), { maxItems: 256 }) }, closed);

const Nothing = Type.Object({}, closed);
const all = { request: Nothing, reply: Reply, codes: [] };
const named = { request: Names, reply: Reply, codes: [] };

export const listParts = defineOperation({ name: "list-parts", ...all });
/** Everything, and the supervisor ends. */
export const stopAll = defineOperation({ name: "stop-all", ...all });
/** Those alone; they stay down until they are started. */
export const stopNamed = defineOperation({ name: "stop-parts", ...named });
export const startNamed = defineOperation({ name: "start-parts", ...named });
/** These go on when everything is stopped. */
export const keepNamed = defineOperation({ name: "keep-parts", ...named });

/** What a supervisor does when it is asked. */
export type Supervised = {
  status: () => readonly PartStatus[];
  stop: () => void;
  hold: (parts: readonly string[]) => void;
  release: (parts: readonly string[]) => void;
  keep: (parts: readonly string[]) => void;
};

/** Whoever listens holds the instance's lock: a socket that is there is a dead one's. */
export async function listenControl(
  path: string,
  supervised: Supervised,
  log: Logger,
): Promise<AsyncDisposable> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const parts = (): SupervisorReply => ({ parts: [...supervised.status()] });
  const told =
    (act: (names: readonly string[]) => void) =>
    async ({ parts: names }: Static<typeof Names>): Promise<SupervisorReply> => {
      act(names);
      return parts();
    };
  return await serve({
    ...{ path, log },
    answers: [
      answering(listParts, async () => parts()),
      answering(stopAll, async () => {
        supervised.stop();
        return parts();
      }),
      answering(stopNamed, told(supervised.hold)),
      answering(startNamed, told(supervised.release)),
      answering(keepNamed, told(supervised.keep)),
    ],
    health: () => ({ part: "supervisor", upMs: Math.round(performance.now()) }),
  });
}

const ANSWER_MS = 5_000;

/** Asks the running supervisor; null when none runs, or one that does not answer. */
export async function askSupervisor<Request extends TSchema>(
  path: string,
  operation: Operation<Request, typeof Reply>,
  request: Static<Request>,
): Promise<SupervisorReply | null> {
  return await ask(path, operation, request, { timeoutMs: ANSWER_MS }).catch(() => null);
}
