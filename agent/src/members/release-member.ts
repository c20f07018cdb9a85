/** Gives everything back and proves it: container and processes, network, file system, device memory. */
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "../containers/job-containers.ts";
import { killWithoutEngine } from "../containers/kill-without-engine.ts";
import type { MemberContext } from "./member-context.ts";

const RETRY_MS = 500;
/** What is not proven by then is told as it is; the coordinator quarantines the worker at 120 s. */
const TELL_AFTER_MS = 90_000;

type Proof = { processesGone: boolean; diskGone: boolean; devicesAtBaseline: boolean };

/** Goes on until all is proven, also after it has told that it is not. */
export async function releaseMember(member: MemberContext): Promise<void> {
  const { journal, tools, ref } = member;
  const tellAtMs = performance.now() + TELL_AFTER_MS;
  let isTold = false;
  for (;;) {
    const proof = await release(member);
    const isClean = Object.values(proof).every(Boolean);
    if (isClean || (!isTold && performance.now() > tellAtMs)) {
      const event = { kind: "released", ...proof } as const;
      await noteInTheEnd(member, () => journal.note(isClean ? { phase: "released" } : {}, ...(isTold ? [] : [event])));
      isTold = true;
      if (isClean) return;
      tools.log.error({ member: ref.member, ...proof }, "a member could not be released");
    }
    await sleep(RETRY_MS);
  }
}

/** What was noted stands in memory, whether the disk took it or not: it is written again until it does. */
async function noteInTheEnd({ journal, tools, ref }: MemberContext, note: () => void): Promise<void> {
  for (let write = note; ; write = () => journal.note({})) {
    try {
      return write();
    } catch (error) {
      tools.log.error({ err: error, member: ref.member }, "the record of a released member could not be written yet");
    }
    await sleep(RETRY_MS);
  }
}

async function release(member: MemberContext): Promise<Proof> {
  const { journal, tools, disk, containerName, ref } = member;
  const { containerId, desired, deviceBaseline } = journal.state;
  const attempt = async (what: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await what();
    } catch (error) {
      tools.log.warn({ err: error, member: ref.member }, "not released yet");
      return false;
    }
  };
  await attempt(async () => {
    await tools.network.disconnect(desired.attempt, ref.member);
    return true;
  });
  const isContainerGone = await attempt(() => tools.containers.remove(containerName));
  if (!isContainerGone && containerId !== null) killWithoutEngine(containerId);
  const processesGone = isContainerGone && (containerId === null || processesOf(containerId).length === 0);
  const diskGone = processesGone && (await attempt(() => disk.remove()));
  const devicesAtBaseline = await attempt(() => tools.accelerators.areAtBaseline(deviceBaseline));
  // Others of the attempt may still be on it; whoever leaves last takes it along.
  if (processesGone) await attempt(() => tools.network.remove(desired.attempt));
  return { processesGone, diskGone, devicesAtBaseline };
}
