import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { AuditdFixture, readLeaves, temporaryFolder } from "../../../audit/test/helper.ts";
import { exportAudit } from "../../src/commands/audit-export.ts";
import { Layout } from "../../src/layout.ts";
import type { PartContext } from "../../src/parts/context.ts";

t.test("an export is asked for in the log, written, and its outcome names what was written", async (t) => {
  const root = temporaryFolder(t);
  const layout = new Layout(root, "-");
  const socket = layout.run("audit", "appliance", "sock");
  for (const folder of [join(socket, ".."), layout.data(), layout.etc]) mkdirSync(folder, { recursive: true });
  chmodSync(join(socket, ".."), 0o750);
  const producers = [{ name: "appliance", family: "appliance", socket, gid: null }];
  const auditd = new AuditdFixture(join(root, "log"), { producers, auditDir: layout.data("audit") });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  // The part of a context that the export asks.
  const context = { layout, config: { appliance: "box", customer: "acme", keyKind: "dev" } } as unknown as PartContext;
  const result = await exportAudit(context, join(root, "export.tar"));
  await t.rejects(exportAudit(context, join(root, "no-such-folder", "export.tar")), { code: "audit_export_failed" });
  await auditd.stop();
  const leaves = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.export");
  t.match(leaves, [
    { phase: "requested", action: "appliance audit export" },
    { phase: "completed", detail: { bundle_sha256: result.sha256, size: result.size } },
    { phase: "requested" },
    { phase: "failed", outcome: { code: "audit_export_failed" } },
  ]);
});
