/** Gives everything back and has it proven: processes, network, files, device memory. */
import { setTimeout as sleep } from "node:timers/promises";
import type { MemberContext } from "./member-context.ts";

const RETRY_MS = 500;
/** What is not proven by then is told as it is; the coordinator quarantines the worker at 120 s. */
const TELL_AFTER_MS = 90_000;

/** Goes on until all is proven, also after it has told that it is not. */
export async function releaseMember(member: MemberContext): Promise<void> {
  const { journal, tools, enclosure, ref } = member;
  const tellAtMs = performance.now() + TELL_AFTER_MS;
  let isTold = false;
  for (;;) {
    const proof = await enclosure.release();
    const isClean = Object.values(proof).every(Boolean);
    if (isClean || (!isTold && performance.now() > tellAtMs)) {
      const event = { kind: "released", ...proof } as const;
      await noteInTheEnd(member, () =>
        journal.note(isClean ? { phase: "released" } : {}, ...(isTold ? [] : [event])),
      );
      isTold = true;
      if (isClean) return;
      tools.log.error({ member: ref.member, ...proof }, "a member could not be released");
    }
    await sleep(RETRY_MS);
  }
}

/** What was noted stands in memory, whether the disk took it or not: it is written again until it does. */
async function noteInTheEnd(
  { journal, tools, ref }: MemberContext,
  note: () => void,
): Promise<void> {
  for (let write = note; ; write = () => journal.note({})) {
    try {
      return write();
    } catch (error) {
      tools.log.error(
        { err: error, member: ref.member },
        "the record of a released member could not be written yet",
      );
    }
    await sleep(RETRY_MS);
  }
}
