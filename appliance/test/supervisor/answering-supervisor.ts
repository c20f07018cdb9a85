import { pino } from "pino";
import type { Test } from "tap";
import { listenControl, type Supervised } from "../../src/supervisor/control.ts";

const nothing = (): void => {};

/** What answers in a supervisor's place until the test ends. */
export async function answeringSupervisor(
  t: Pick<Test, "teardown">,
  socket: string,
  supervised: Partial<Supervised>,
): Promise<void> {
  const control = await listenControl(
    socket,
    {
      ...{ status: () => [], stop: nothing, hold: nothing, release: nothing, keep: nothing },
      ...supervised,
    },
    pino({ level: "silent" }),
  );
  t.teardown(() => control[Symbol.asyncDispose]());
}
