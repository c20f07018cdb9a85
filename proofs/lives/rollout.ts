/**
 * A newer version of a chat model takes the place of the older one while 32 streams run without a pause: none may be dropped or refused, and the
 * same key and model name go on.
 *
 *     npm run prove -- rollout [ROLLOUTS]
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import type { ProofContext, ProofResult } from "../proof.ts";

const STREAMS = 32;
const TOKENS = 24;
/** Streams go on so long before, between and after. */
const STEADY_MS = 15_000;
const END_LIMIT_MS = 180_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const rollouts = Number(args[0] ?? 2);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  const api = new ApplianceApi(appliance);
  const chat = await ChatDeployment.make(appliance, installed.folder("chat"), { slots: STREAMS });
  progress("the first version is deployed");
  let id = await chat.deploy();
  const streams = chat.streams();
  const running = streams.run(STREAMS, TOKENS);
  const tookMs: number[] = [];
  const older: string[] = [];
  try {
    await sleep(STEADY_MS);
    for (let at = 0; at < rollouts; at++) {
      progress(`rollout ${at + 1}: ${streams.whole} streams were whole until now`);
      const from = performance.now();
      const newer = await chat.deploy(id);
      await untilReplaced(api, id);
      tookMs.push(performance.now() - from);
      older.push(id);
      id = newer;
      await sleep(STEADY_MS);
    }
  } finally {
    streams.end();
    await running;
  }
  await chat.remove(id);
  const { whole, dropped, replicas } = streams;
  return {
    ok: dropped.length === 0 && replicas.size > rollouts && whole > STREAMS,
    figures: {
      ...{ rollouts, streams: STREAMS, tokens_each: TOKENS, whole, dropped: dropped.length },
      why: dropped.slice(0, 5),
      replicas_that_answered: replicas.size,
      rollout_s: tookMs.map((ms) => Number((ms / 1_000).toFixed(1))),
    },
  };
}

/** @throws Error when the older one has not ended with the reason `replaced` in time */
async function untilReplaced(api: ApplianceApi, id: string): Promise<void> {
  for (const end = Date.now() + END_LIMIT_MS; ; await sleep(250)) {
    const { body } = await api.call("GET", `/api/inference/jobs/${id}`);
    const { detail } = body as DeploymentReply;
    if (detail.state === "CANCELLED" && detail.reason === "replaced") return;
    if (Date.now() > end) throw new Error(`${id} is ${detail.state} for ${detail.reason}`);
  }
}
