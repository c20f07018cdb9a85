/** Against the real auditd, whose socket lies where the appliance has it. */
import { rmSync } from "node:fs";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { connectOperator, operated } from "../../src/audit/operator-record.ts";
import { Layout } from "@resontech/frame/layout";
import { auditdWithSocket } from "./auditd-with-socket.ts";

async function started(t: Test) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `operator-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const socket = layout.run("audit", "appliance", "sock");
  const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
  await auditd.start();
  const about = async () => {
    await auditd.stop();
    return (await readLeaves(auditd.logDir)).filter(
      ({ prod, type }) => prod === "appliance" && type === "admin.stop",
    );
  };
  return { layout, auditd, about };
}

const stopOf = (id: string) =>
  ({ type: "admin.stop", action: "appliance stop", object: { kind: "process", id } }) as const;

t.test("each part has a request before the effect and one outcome after it", async (t) => {
  const { layout, about } = await started(t);
  await using producer = await connectOperator(layout);
  const result = await operated(producer, [stopOf("nats"), stopOf("s3")], async () => {
    t.equal((await producer.openOperations()).length, 2, "durable before the effect");
    return { result: "done" };
  });
  t.equal(result, "done");
  const failure = Object.assign(new Error("still there"), { code: "still_stopping" });
  await t.rejects(
    operated(producer, [stopOf("agent")], () => Promise.reject(failure)),
    failure,
  );
  await producer.close();
  t.match(
    (await about()).map(({ phase, object, outcome }) => [phase, object.id, outcome?.code]),
    [
      ["requested", "nats", undefined],
      ["requested", "s3", undefined],
      ["completed", "nats", "ok"],
      ["completed", "s3", "ok"],
      ["requested", "agent", undefined],
      ["failed", "agent", "still_stopping"],
    ],
  );
});

t.test("without auditd nothing is done", async (t) => {
  const { layout, auditd } = await started(t);
  await auditd.stop("SIGKILL");
  await t.rejects(connectOperator(layout, 300), { code: "audit_unavailable" });
});

t.test("what a killed command left open is closed by the next one", async (t) => {
  const { layout, about } = await started(t);
  const killed = await connectOperator(layout);
  // As kill -9 leaves it: a request, and no outcome.
  await killed.requested({
    ...stopOf("nats"),
    op: crypto.randomUUID(),
    actor: { sub: "appliance", kind: "operator" },
  });
  await killed.close();
  await (await connectOperator(layout)).close();
  t.match(await about(), [
    { phase: "requested" },
    { phase: "failed", outcome: { code: "interrupted" } },
  ]);
});
