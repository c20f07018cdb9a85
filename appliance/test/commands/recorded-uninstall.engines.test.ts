/** Against the real auditd; what removes is the test's. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { connectOperator } from "../../src/audit/operator-record.ts";
import { recordedUninstall } from "../../src/commands/recorded-uninstall.ts";
import { Layout } from "@resontech/frame/layout";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

async function started(t: Test) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `uninstall-${process.pid}`);
  const socket = join(root, "appliance", "sock");
  layout.run = () => socket;
  const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
  await auditd.start();
  const said = async () =>
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "admin.uninstall");
  return { auditd, said, open: () => connectOperator(layout, 2_000).catch(() => null) };
}

t.test(
  "the request is on record before anything is removed; auditd goes with the rest",
  async (t) => {
    const { auditd, said, open } = await started(t);
    const lines: string[] = [];
    const remove = async () => {
      t.match(await said(), [{ phase: "requested", action: "appliance uninstall" }]);
      await auditd.stop();
      return 0;
    };
    t.equal(await recordedUninstall(open, remove, (line) => lines.push(line)), 0);
    t.same(lines, []);
    t.equal((await said()).length, 1);
  },
);

t.test("an uninstall that was declined, or failed, has its outcome", async (t) => {
  const { auditd, said, open } = await started(t);
  t.equal(
    await recordedUninstall(
      open,
      async () => 1,
      (line) => t.fail(line),
    ),
    1,
  );
  await auditd.stop();
  t.match(await said(), [
    { phase: "requested" },
    { phase: "failed", outcome: { code: "not_removed" } },
  ]);
});

t.test(
  "an appliance whose log takes nothing is removed all the same, and its operator is told",
  async (t) => {
    const { auditd, open } = await started(t);
    await auditd.stop("SIGKILL");
    const lines: string[] = [];
    t.equal(
      await recordedUninstall(
        open,
        async () => 0,
        (line) => lines.push(line),
      ),
      0,
    );
    t.match(lines, [/auditd does not answer/]);
  },
);
