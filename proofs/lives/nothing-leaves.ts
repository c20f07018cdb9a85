/**
 * `install.sh`, a federated job, an upgrade and a rollback, the audit log's verification and the uninstall where every way out leads to a sink: default routes and name
 * server end at a peer that records each packet and drops it. Nothing may be recorded; afterwards a connection, a look-up of a name and
 * a datagram, planted in the same network, must be.
 *
 * `npm run prove -- nothing-leaves`
 */
import { lookup } from "node:dns/promises";
import { createSocket } from "node:dgram";
import { join } from "node:path";
import { runChild } from "@resontech/house/run-child";
import { builtOutside, runInside } from "./network/run-inside.ts";
import { TestReleases } from "./life/test-releases.ts";
import { buildForLife, type LifeBundles, wholeLife } from "./life/whole-life.ts";
import { dial, ELSEWHERE } from "./network/dial.ts";
import { Sink } from "./network/sink.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const PLANT = "--plant";
/** RFC 3849 and RFC 5737. */
const ELSEWHERE_6 = { host: "2001:db8::1", port: 443 };
const DATAGRAM = { host: "203.0.113.9", port: 514 };
/** What the sink must have seen of the planted ones, without the number of packets. */
const PLANTED = [
  "203.0.113.1 tcp 443",
  "2001:db8::1 tcp 443",
  "203.0.113.9 udp 514",
  "198.51.100.53 udp 53",
];

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const inside = builtOutside(args) as LifeBundles | undefined;
  if (inside !== undefined) return await wholeLife(progress, inside);
  if (args[0] === PLANT) return await plant();

  using releases = new TestReleases();
  progress("building two releases, which may use the network");
  const built = await buildForLife(releases);
  using sink = Sink.make(`rt-sink-${process.pid}`);
  progress(`the rest runs in the network namespace ${sink.name}`);
  const enter = (command: readonly string[]): [string, string[]] =>
    sink.enter(join(releases.folder, "resolv.conf"), command);
  const { ok, figures } = await runInside("nothing-leaves", built, enter);
  const recorded = sink.recorded();
  progress(`recorded: ${recorded.length === 0 ? "nothing" : recorded.join("; ")}`);
  const main = join(import.meta.dirname, "..", "main.ts");
  await runChild(...enter([process.execPath, main, "nothing-leaves", PLANT]), { quiet: true });
  const planted = sink.recorded();
  progress(`recorded of what was planted: ${planted.join("; ")}`);
  const isSeen = PLANTED.every((what) => planted.some((line) => line.startsWith(`${what}:`)));
  return {
    ok: ok && recorded.length === 0 && isSeen,
    figures: { recorded, planted, ...figures },
  };
}

/** Nobody answers any of these. */
async function plant(): Promise<ProofResult> {
  const socket = createSocket("udp4");
  await new Promise((resolve) => socket.send("planted", DATAGRAM.port, DATAGRAM.host, resolve));
  socket.close();
  const [four, six, name] = await Promise.all([
    dial(ELSEWHERE),
    dial(ELSEWHERE_6),
    lookup("planted.example").then(
      ({ address }) => address,
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    ),
  ]);
  return {
    ok: four === "no answer" && six === "no answer" && name.startsWith("E"),
    figures: { four, six, name },
  };
}
