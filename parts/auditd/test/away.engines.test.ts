import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";

t.test("heartbeats name who should be connected and is not", async (t) => {
  const root = temporaryFolder(t);
  const producers = ["coordinator-gate", "s3-front", "appliance"].map((name) => ({
    ...{ name, family: name, socket: join(root, "run", `${name}.sock`), gid: null },
    ...(name === "appliance" ? { occasional: true } : {}),
  }));
  const auditd = new AuditdFixture(root, { producers, heartbeatMs: 100, checkpointMs: 20 });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const aways = async () =>
    (await readLeaves(auditd.logDir)).flatMap(({ type, detail }) =>
      type === "audit.heartbeat" ? [detail?.["away"]] : [],
    );
  const until = async (wanted: readonly string[]) => {
    for (
      const deadline = performance.now() + 120_000;
      performance.now() < deadline;
      await sleep(30)
    )
      if (JSON.stringify((await aways()).at(-1)) === JSON.stringify(wanted)) return;
    t.fail(`no heartbeat says ${wanted.join()}`);
  };
  await until(["coordinator-gate", "s3-front"]);
  t.equal(
    (await aways())[0],
    undefined,
    "the first one says nothing of it: nobody could be there yet",
  );
  await using gate = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  const front = await connectProducer({ socketPath: auditd.socket("s3-front"), boot: "b-1" });
  await until([]);
  await front.close();
  await until(["s3-front"]);
  t.equal(gate.connected, true);
});
