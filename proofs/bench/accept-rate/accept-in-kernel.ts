/**
 * Jobs that the kernel accepts: clients that each wait for the gate of a real auditd, then for the transaction, on a database that syncs each commit.
 * Arguments: gate socket of auditd, clients, jobs. Prints one JSON line.
 */
import { connectProducer } from "@resontech/audit/producer";
import { KernelWorld } from "@resontech/coordinator/testing/kernel-world";
import { SimAgent } from "@resontech/coordinator/testing/sim-agent";

const [socketPath = "", ...numbers] = process.argv.slice(2);
const [clients = 8, count = 1_000] = numbers.map(Number);
// Nobody takes the records here, and the kernel would stop for these.
using world = new KernelWorld();
const { db, kernel } = world.parts;
db.pragma("synchronous = FULL");
world.admit("node-a");
await new SimAgent(world, "node-a", 2).register();
await using gate = await connectProducer({ socketPath, boot: crypto.randomUUID() });

let next = 0;
async function submitOne(): Promise<void> {
  const name = `job-${next++}`;
  const op = crypto.randomUUID();
  const { index, leafHash, unwitnessed } = await gate.requested({
    ...{ type: "job.submit" as const, op, action: "POST /api/tasks" },
    actor: { sub: "usr-0a1b2c3d", kind: "user" as const, roles: ["researcher"] },
    object: { kind: "job" as const, id: "job-0a1b2c3d4e5f" },
    detail: { shards: 1, inputs: 2, input_bytes: 20 },
  });
  await kernel.submit(world.task(name, { audit: { op, index, leafHash, unwitnessed } }, 1));
}
const from = performance.now();
await Promise.all(
  Array.from({ length: clients }, async () => {
    while (next < count) await submitOne();
  }),
);
const seconds = (performance.now() - from) / 1_000;
const stored = world.one<number>("SELECT count(*) FROM jobs");
process.stdout.write(`${JSON.stringify({ stored, seconds })}\n`);
process.exit(0);
