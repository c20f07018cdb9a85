import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { PCR, SoftTpm } from "@resontech/audit/testing/soft-tpm";
import { VaultFixture } from "./helper/vault-fixture.ts";
import { openKeyIsSealed } from "./helper/open-key.ts";

t.test(
  "a key that a TPM sealed opens in the boot that it was sealed in, and in no other",
  async (t) => {
    const root = temporaryFolder(t);
    const tpm = await SoftTpm.start(t, join(root, "tpm"));
    const vault = new VaultFixture(root, { tpm: { device: tpm.device, pcrs: [PCR] } });
    t.teardown(() => vault.stop("SIGKILL"));
    const sealed = `${vault.config.keyFile}.tpm`;
    for (let life = 0; life < 2; life++) {
      tpm.flush();
      await vault.start();
      await vault.stop();
    }
    t.notOk(existsSync(vault.config.keyFile), "nothing lies beside it");
    const before = readFileSync(sealed);
    tpm.flush();
    tpm.boot("2".repeat(64));
    await t.rejects(vault.start(), {
      message: /vault\.key\.tpm: systemd-creds decrypt ended with 1/,
    });
    t.same(readFileSync(sealed), before, "nothing is made in its place");
    delete (vault.config as { tpm?: object }).tpm;
    vault.writeConfig();
    await t.rejects(vault.start(), {
      message: /sealed by a TPM, and the configuration names none/,
    });
    t.notOk(existsSync(vault.config.keyFile));
  },
);

t.test(
  "a key that lay open is sealed, opens what it opened before, and the open file is destroyed",
  async (t) => {
    const naming = async (vault: VaultFixture, root: string): Promise<void> => {
      const tpm = await SoftTpm.start(t, join(root, "tpm"));
      vault.config.tpm = { device: tpm.device, pcrs: [PCR] };
    };
    await openKeyIsSealed(t, naming, ".tpm");
  },
);

t.test("no TPM, no key: none is kept unsealed instead", async (t) => {
  const vault = new VaultFixture(temporaryFolder(t), {
    tpm: { device: "/dev/no-such-tpm", pcrs: [PCR] },
  });
  await t.rejects(vault.start(), { message: /systemd-creds encrypt ended with/ });
  t.notOk(existsSync(vault.config.keyFile));
  t.notOk(existsSync(`${vault.config.keyFile}.tpm`));
});
