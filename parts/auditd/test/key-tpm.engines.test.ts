import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { parsePolicy } from "@resontech/audit/format/note/policy";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { PCR, SoftTpm } from "@resontech/audit/testing/soft-tpm";

t.test(
  "keys that a TPM sealed sign in the boot that they were made in, and in no other",
  async (t) => {
    const root = temporaryFolder(t);
    const tpm = await SoftTpm.start(t, join(root, "tpm"));
    const auditd = new AuditdFixture(root, {
      tpm: { device: tpm.device, pcrs: [PCR] },
      learnMs: 0,
    });
    t.teardown(() => auditd.stop("SIGKILL"));
    auditd.init();
    const { keysDir, policyFile } = auditd.config;
    const names = readdirSync(keysDir);
    t.same(names, [
      `${auditd.currentSlug}.ed25519.pem.tpm`,
      `${auditd.currentSlug}.ml-dsa-44.pem.tpm`,
    ]);
    for (const name of names)
      t.notMatch(readFileSync(join(keysDir, name), "latin1"), /PRIVATE KEY/);
    for (let life = 0; life < 2; life++) {
      tpm.flush();
      await auditd.start();
      await auditd.stop();
    }
    const { logs } = parsePolicy(readFileSync(policyFile));
    t.ok(openCheckpoint(readFileSync(join(auditd.logDir, "checkpoint"), "utf8"), logs));

    tpm.flush();
    tpm.boot("2".repeat(64));
    await t.rejects(auditd.start(), { message: /\.pem\.tpm: systemd-creds decrypt ended with 1/ });
    t.same(readdirSync(keysDir), names, "nothing is made in their place");
  },
);

t.test("no TPM, no key: none is kept unsealed instead", async (t) => {
  const root = temporaryFolder(t);
  const auditd = new AuditdFixture(root, { tpm: { device: "/dev/no-such-tpm", pcrs: [PCR] } });
  t.throws(() => auditd.init(), /systemd-creds encrypt ended with/);
  t.same(readdirSync(auditd.config.keysDir), []);
});

t.test("registers that hold nothing tie a key to no boot, and are refused", async (t) => {
  const root = temporaryFolder(t);
  const tpm = await SoftTpm.start(t, join(root, "tpm"));
  const auditd = new AuditdFixture(root, { tpm: { device: tpm.device, pcrs: [PCR + 1] } });
  t.throws(() => auditd.init(), /does not tie it to the boot/);
  t.same(readdirSync(auditd.config.keysDir), []);
});
