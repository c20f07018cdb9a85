/** One trial: a container of the image that a job would run, with the worker's device, in all that encloses a job; then all is given back. */
import { setTimeout as sleep } from "node:timers/promises";
import type { InventoryWorker, TrialReply } from "@resontech/contracts/agent-protocol";
import type { Logger } from "pino";
import type { TrialResult } from "../decisions/worker-trials.ts";
import { withoutHostPaths } from "../decisions/without-host-paths.ts";
import { lastPrinted } from "../members/last-printed.ts";
import type { MemberStore } from "../members/member-record.ts";
import type { Enclosure, Kept } from "../substrate/enclosure.ts";
import type { Substrate } from "../substrate/substrate.ts";
import { EnclosureFailedError, NetworkNotClosedError } from "../substrate/substrate-errors.ts";
import { trialWork } from "./trial-work.ts";

/** Loading CUDA's libraries from a cold disk takes most of it. */
const RUN_MS = 180_000;
const LOOK_MS = 200;
/** As for members: a driver frees memory within seconds. */
const RELEASE_MS = 90_000;
const RELEASE_LOOK_MS = 500;

export type TrialParts = {
  substrate: Substrate;
  /** With which image. */
  ask: (worker: string) => Promise<TrialReply>;
  /** Where its files lie, beside those of members. */
  store: Pick<MemberStore, "makeFolder" | "forget" | "load">;
  log: Logger;
};

/** Throws nothing but the signal's reason. */
export async function runTrial(
  parts: TrialParts,
  worker: InventoryWorker,
  until: AbortSignal,
): Promise<TrialResult> {
  const { substrate, ask, store, log } = parts;
  const plain = (text: string): string => withoutHostPaths(text, substrate.hiddenPaths);
  let reply: TrialReply;
  try {
    reply = await ask(worker.id);
  } catch (error) {
    return { state: "put-off", image: null, why: textOf(error) };
  }
  const { pull, noImage } = reply;
  if (pull === null) return { state: "none", why: noImage ?? "there is no image for it" };
  const { image } = pull;
  const work = trialWork(worker, image);
  const enclosure = substrate.enclosure(work, {});
  let result: TrialResult;
  try {
    store.makeFolder(work.member);
    const others = store.load().map(({ kept }) => kept);
    const why = await runInside(enclosure, pull, others, until);
    result =
      why === null ? { state: "passed", image } : { state: "failed", image, why: plain(why) };
  } catch (error) {
    log.warn({ err: error, worker: worker.id }, "a trial broke off");
    const isOfWorker =
      error instanceof EnclosureFailedError || error instanceof NetworkNotClosedError;
    const why = plain(textOf(error));
    result = { state: isOfWorker ? "failed" : "put-off", image, why };
  }
  const left = await release(enclosure, until);
  if (left === null) store.forget(work.member);
  return left === null ? result : { state: "failed", image, why: left };
}

/** Why it did not do what it should; null when it did. */
async function runInside(
  enclosure: Enclosure,
  { username, password }: NonNullable<TrialReply["pull"]>,
  others: readonly Kept[],
  until: AbortSignal,
): Promise<string | null> {
  enclosure.reserve(others);
  await enclosure.claimDevices();
  await enclosure.makeArea();
  const wishes = { login: async () => ({ username, password }), onProgress: () => undefined };
  await enclosure.haveImage(wishes, until);
  await enclosure.makeNetwork(until);
  await enclosure.connect(null, until);
  await enclosure.proveClosed();
  await enclosure.start(until);
  const run = await enclosure.observe(until);
  await enclosure.proveClosed();
  const lastAtMs = performance.now() + RUN_MS;
  while (run.isRunning()) {
    if (performance.now() > lastAtMs) return `it did not end within ${RUN_MS / 1000} s`;
    await sleep(LOOK_MS, undefined, { signal: until });
  }
  const { exitCode, oomKilled } = await run.end(until);
  if (exitCode === 0) return null;
  if (oomKilled) return "it used more memory than a trial may";
  const printed = await lastPrinted(enclosure.area);
  return printed?.split("\n").at(-1) ?? `it ended with exit code ${exitCode}`;
}

/** What was not given back, for people; null when all was. */
async function release(enclosure: Enclosure, until: AbortSignal): Promise<string | null> {
  const lastAtMs = performance.now() + RELEASE_MS;
  for (;;) {
    const { processesGone, diskGone, devicesAtBaseline } = await enclosure.release();
    if (processesGone && diskGone && devicesAtBaseline) return null;
    if (performance.now() > lastAtMs)
      return devicesAtBaseline
        ? "its container could not be removed"
        : "the device did not become as free as it was before";
    // An agent that ends leaves the rest to the next one's start, which sweeps what no record knows.
    await sleep(RELEASE_LOOK_MS, undefined, { signal: until });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
