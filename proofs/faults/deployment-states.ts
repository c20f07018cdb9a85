/**
 * Deployments that come and go as the seed says: calls, lost replicas, late words, gateways that are away, over hours of pretended time. The reducer
 * and the gateway's admission are the real ones. No call may be lost or led to a closed replica, and no replica may come and go in turns.
 *
 * `npm run prove -- deployment-states [STEPS [SEED]]` (a million steps unless said)
 */
import { DeploymentWorld } from "@resontech/coordinator/testing/deployment-world";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

const STEPS = 1_000_000;
/** Of one deployment, before the next one begins. */
const STEPS_OF_ONE = 200;
const TOLD_EVERY = 100_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [steps = STEPS, seed = 1] = args.map(Number);
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const ends = { led: 0, refused: 0, withdrawn: 0 };
  const broken: string[] = [];
  let deployments = 0;
  for (let done = 0; done < steps; done += STEPS_OF_ONE) {
    const min = upTo(2);
    const world = new DeploymentWorld({
      ...{ min, max: Math.max(1, min + upTo(2)), targetOngoing: 1 + upTo(2) },
      sleeps: random() < 0.5,
    });
    deployments += 1;
    try {
      for (let step = 0; step < STEPS_OF_ONE; step++) world.act(upTo(1_000), upTo(1_000));
      world.quieten();
    } catch (error) {
      broken.push(`deployment ${deployments}: ${(error as Error).message}`);
    }
    for (const end of ["led", "refused", "withdrawn"] as const) ends[end] += world.ends[end];
    if (done % TOLD_EVERY === 0) progress(`${done} of ${steps} steps, ${broken.length} broken`);
  }
  return {
    ok: broken.length === 0 && ends.led > 0 && ends.refused > 0 && ends.withdrawn > 0,
    figures: {
      ...{ steps, seed, deployments, broken: broken.slice(0, 20) },
      ...{ calls_led: ends.led, calls_refused: ends.refused, calls_withdrawn: ends.withdrawn },
    },
  };
}
