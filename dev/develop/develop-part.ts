/** Keeps a part of an appliance at what its sources say, until it is disposed of; then the supervisor has it again. */
import type { PartContext } from "@resontech/appliance/part-context";
import { NotHealthyError, waitHealthy } from "@resontech/appliance/wait-healthy";
import { isFree } from "@resontech/house/free-port";
import { DevelopedPart } from "./developed-part.ts";
import { OneAtATime } from "./one-at-a-time.ts";
import { PROGRAMS } from "./options.ts";
import { ProgramFolder } from "./program-folder.ts";
import { WatchedPrograms } from "./watch-programs.ts";

const HEALTHY_AGAIN_MS = 90_000;

export type DevelopPartOptions = {
  part: string;
  inspect: number;
  say: (line: string) => void;
};

/** @throws PartsError, Error when the sources don't compile or the inspector's port is taken; the installed part runs on then */
export async function developPart(
  context: PartContext,
  { part: name, inspect, say }: DevelopPartOptions,
): Promise<AsyncDisposable> {
  if (!(await isFree(inspect, "127.0.0.1")))
    throw new Error(`somebody listens on 127.0.0.1:${inspect}; choose another port by --inspect`);
  await using stack = new AsyncDisposableStack();
  const programs = PROGRAMS[name]!;
  const files = programs.map((program) => `${program}.mjs`);
  const folder = stack.use(new ProgramFolder(context.layout.current, files, inspect));
  const turns: { restarts: OneAtATime | null } = { restarts: null };
  // Compiled first: what does not compile costs the appliance nothing.
  stack.use(await WatchedPrograms.start(programs, folder.app, () => void turns.restarts?.ask()));
  const part = await DevelopedPart.take(context, name, folder);
  stack.defer(() => giveBack(part, context, name, say));
  const restarts = new OneAtATime(() =>
    restart(part, context.layout.log(`${name}.log`), name, say),
  );
  turns.restarts = restarts;
  stack.defer(() => restarts.end());
  // Whoever is told that the pages are there finds the part behind them.
  await restarts.ask();
  return stack.move();
}

/** @throws what keeps the supervisor from having it again; then the person knows how it gets it */
async function giveBack(
  part: DevelopedPart,
  context: PartContext,
  name: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    await part.giveBack();
  } catch (error) {
    say(
      `${name} is still held; give it back by: appliance --root ${context.layout.root} start ${name}`,
    );
    throw error;
  }
  say(`gave ${name} back`);
  const again = await isHealthyAgain(context, name);
  say(`the installed ${name} ${again ? "runs" : "does not answer yet: see `appliance status`"}`);
}

async function restart(
  part: DevelopedPart,
  log: string,
  name: string,
  say: (line: string) => void,
): Promise<void> {
  try {
    const ms = await part.restart();
    if (ms !== null) say(`${name} of this tree answers after ${ms} ms, process ${part.pid}`);
    else
      say(
        `${name} of this tree does not answer; its words are in ${log}, the next change starts it anew`,
      );
    const { pid, ended } = part;
    void ended.then((how) => {
      // Its end before a restart is ours.
      if (part.pid === pid) say(`${name} ended: ${how}; the next change starts it anew`);
    });
  } catch (error) {
    say(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function isHealthyAgain(context: PartContext, name: string): Promise<boolean> {
  try {
    await waitHealthy(context, HEALTHY_AGAIN_MS, () => undefined, [name]);
    return true;
  } catch (error) {
    if (!(error instanceof NotHealthyError)) throw error;
    return false;
  }
}
