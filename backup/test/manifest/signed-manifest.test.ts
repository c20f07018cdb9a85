import t from "tap";
import { FORMAT, type Manifest } from "../../src/manifest/manifest.ts";
import { openManifest, signManifest } from "../../src/manifest/signed-manifest.ts";
import { makeRecoveryKey } from "../../src/recovery-key.ts";

const { keys, signingKeyPem } = makeRecoveryKey("box.acme");
const manifest: Manifest = {
  ...{ format: FORMAT, id: "20261127T101500Z", takenAt: "2026-11-27T10:15:00.000Z" },
  ...{ appliance: "box.acme", release: "0.9.0" },
  recipient: keys.recipient,
  parts: [
    {
      ...{ name: "coordinator", kind: "database", sha256: "a".repeat(64), bytes: 7, schema: 3 },
      content: { sha256: "b".repeat(64), bytes: 9 },
      path: "data/coordinator/coordinator.db",
    },
  ],
  objects: { count: 0, bytes: 0, namesSha256: "c".repeat(64) },
};

t.test("a manifest that this appliance signed is read as it was written", async (t) => {
  t.same(openManifest(signManifest(manifest, signingKeyPem), keys.signer, "m"), manifest);
});

t.test("one that somebody else signed, or that was changed, is not believed", async (t) => {
  const other = makeRecoveryKey("box.acme");
  const forged = signManifest(manifest, other.signingKeyPem);
  t.throws(() => openManifest(forged, keys.signer, "m"), {
    code: "backup_signer_other",
    message: new RegExp(`signed by the key ${other.keys.signer}; this sheet names ${keys.signer}`),
  });
  for (const keyid of [keys.signer, "", "rtbackup1nonsense"]) {
    const claimed = Buffer.from(String(forged).replace(other.keys.signer, keyid));
    t.throws(() => openManifest(claimed, keys.signer, "m"), { code: "backup_forged" }, keyid);
  }
  const signed = JSON.parse(String(signManifest(manifest, signingKeyPem))) as { payload: string };
  const payload = Buffer.from(JSON.stringify({ ...manifest, parts: [] })).toString("base64");
  const changed = Buffer.from(JSON.stringify({ ...signed, payload }));
  t.throws(() => openManifest(changed, keys.signer, "m"), { code: "backup_forged" });
  for (const bytes of ["", "{}", "[1]", '{"payload":1}'])
    t.throws(() => openManifest(Buffer.from(bytes), keys.signer, "m"), { code: "backup_damaged" });
});

t.test(
  "a signed manifest of another format is refused, and so is a path that leads out",
  async (t) => {
    for (const wrong of [
      { ...manifest, format: "resontech-backup/2" },
      { ...manifest, parts: [{ ...manifest.parts[0], path: "/etc" }] },
      { ...manifest, more: 1 },
    ]) {
      const signed = signManifest(wrong as Manifest, signingKeyPem);
      t.throws(() => openManifest(signed, keys.signer, "m"), { code: "backup_format" });
    }
  },
);
