import t from "tap";
import { logKeysOf, vaultKeyOf } from "@resontech/contracts/audit-keys";
import { readAuditKeys } from "../../src/config/audit-keys.ts";
import { Layout } from "@resontech/frame/layout";

const LABEL = "box.vault.acme";
const token = { module: "/lib/hsm.so", label: "audit", pinFile: "/etc/audit-pin" };
const vaultToken = { module: "/lib/hsm.so", label: "vault", pinFile: "/etc/vault-pin" };
const tpm = { device: "/dev/tpmrm0", pcrs: [7] };

t.test("without a file both keep plain files", async (t) => {
  t.equal(readAuditKeys(new Layout(t.testdir({ etc: {} }), "test")), null);
  t.same(logKeysOf({}), {});
  t.same(vaultKeyOf({}, LABEL), {});
});

t.test("the file says where keys lie", async (t) => {
  const said = { token, vaultToken, tpm, environment: { SOFTHSM2_CONF: "/etc/softhsm2.conf" } };
  t.same(
    readAuditKeys(
      new Layout(t.testdir({ etc: { "audit-keys.json": JSON.stringify(said) } }), "test"),
    ),
    said,
  );
});

t.test(
  "a token is its own process's alone: the vault never gets auditd's, nor auditd the vault's",
  async (t) => {
    t.same(logKeysOf({ token, vaultToken }), { token });
    t.same(vaultKeyOf({ token, vaultToken }, LABEL), { token: { ...vaultToken, keyLabel: LABEL } });
    t.same(vaultKeyOf({ token }, LABEL), {});
    t.same(logKeysOf({ vaultToken }), {});
  },
);

t.test(
  "the TPM seals the files of both, and auditd's alone where the vault has a token",
  async (t) => {
    t.same(logKeysOf({ token, tpm, vaultToken }), { token, tpm });
    t.same(vaultKeyOf({ token, tpm }, LABEL), { tpm });
    t.same(vaultKeyOf({ tpm, vaultToken }, LABEL), { token: { ...vaultToken, keyLabel: LABEL } });
  },
);
