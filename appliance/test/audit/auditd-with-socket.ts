/** The real auditd, with one producer whose socket lies where the appliance has it. */
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Test } from "tap";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";

/** Made, not started; killed with the test. */
export function auditdWithSocket(
  t: Test,
  root: string,
  { name, socket }: { name: string; socket: string },
): AuditdFixture {
  mkdirSync(dirname(socket), { recursive: true });
  chmodSync(dirname(socket), 0o750);
  const auditd = new AuditdFixture(join(root, "log"), {
    producers: [{ name, family: name, socket, gid: null }],
  });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  return auditd;
}
