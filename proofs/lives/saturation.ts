/**
 * An endpoint that has more calls than it can take, for hours: a watch that ends engines which hang must end none that is merely busy.
 *
 *     npm run prove -- saturation [MINUTES]    180 unless said
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { verifyLife } from "./life/verify-life.ts";

const MINUTES = 180;
const SLOTS = 4;
/** So many callers at once for each call that the engine takes. */
const CALLERS_A_SLOT = 6;
const TOKENS = 64;
const TELL_EVERY_MS = 60_000;
/** A caller that is told to come again. */
const BUSY = /^(429|503) /;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const minutes = Number(args[0] ?? MINUTES);
  const installed = await ProofAppliance.install(progress, undefined, { cpuWorkers: 1 });
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    saturate(installed, minutes, progress),
  );
  return {
    ok:
      figures.whole > 0 &&
      figures.told_to_come_again > 0 &&
      figures.broken === 0 &&
      figures.replicas === 1 &&
      isVerified(figures.audit) &&
      left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function saturate(
  installed: ProofAppliance,
  minutes: number,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  const chat = await ChatDeployment.make(appliance, installed.folder("chat"), { slots: SLOTS });
  const id = await chat.deploy();
  const streams = chat.streams();
  const callers = SLOTS * CALLERS_A_SLOT;
  const running = streams.run(callers, TOKENS);
  const broken = (): string[] => streams.dropped.filter((said) => !BUSY.test(said));
  for (const end = Date.now() + minutes * 60_000; Date.now() < end; ) {
    await sleep(Math.min(TELL_EVERY_MS, end - Date.now()));
    progress(`${streams.whole} streams whole, ${broken().length} broken`);
  }
  streams.end();
  await running;
  await chat.remove(id);
  return {
    ...{ minutes, callers, slots: SLOTS, whole: streams.whole, replicas: streams.replicas.size },
    ...{ broken: broken().length, why: broken().slice(0, 5) },
    told_to_come_again: streams.dropped.length - broken().length,
    audit: await verifyLife(installed),
  };
}
