import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { mayRestore } from "../src/decisions/may-restore.ts";
import { restoreKeys } from "../src/restore-keys.ts";
import { until } from "@resontech/audit/testing/until";
import { disclosing, erase } from "./helper/privacy-requests.ts";
import { gateOf, startedBoth } from "./helper/started-both.ts";
import { say } from "./helper/say.ts";
import type { VaultFixture } from "./helper/vault-fixture.ts";
import { PartsFixture } from "./helper/parts-fixture.ts";

const copies = (vault: VaultFixture) =>
  readdirSync(vault.config.backupsDir).filter((name) => name.endsWith(".keys"));
const epochs = (vault: VaultFixture) =>
  readdirSync(vault.config.epochsDir).filter((name) => name.endsWith(".epoch"));

t.test(
  "a copy of the keys puts them back while its epoch lives, and never what was erased",
  async (t) => {
    const [auditd, vault] = await startedBoth(t, { backupMs: 100 });
    await using gate = await gateOf(auditd);
    for (const subject of ["usr-1", "usr-2"]) await say(gate, subject, "10.0.0.1");
    await until(async () => (await vault.status()).keys === 2);
    const first = copies(vault)[0];
    await until(() => copies(vault)[0] !== first);
    const kept = join(auditd.root, "kept.keys");
    cpSync(join(vault.config.backupsDir, copies(vault)[0]!), kept);
    const { finalAfter } = (await vault.ask(erase("usr-1"))) as { finalAfter: string };
    t.equal(
      finalAfter,
      (await vault.status()).lastEpochEndsAt,
      "from the end of the epoch that copied its key",
    );
    t.match(vault.restore(kept), { status: 1, stderr: /AlreadyRunningError/ });
    await vault.stop();
    rmSync(join(vault.config.keysDir, "keys.sqlite"));
    t.match(vault.restore(kept), { status: 0, stdout: '{"restored":1,"kept":0,"destroyed":1}\n' });
    await vault.start();
    await until(async () => (await vault.status()).connected);
    const lines = await vault.askAll(disclosing(auditd, ["usr-1", "usr-2"]));
    t.match(lines.at(-1), { end: { opened: 1, erased: 1 } });
    t.match(
      lines.find((line) => "value" in line),
      { value: "10.0.0.1" },
    );
  },
);

t.test("once its epoch's key is gone no copy can be opened", async (t) => {
  const [auditd, vault] = await startedBoth(t, { backupMs: 100, epochMs: 400, epochLifeMs: 1_500 });
  await using gate = await gateOf(auditd);
  await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).keys === 1);
  const folder = join(auditd.root, "kept");
  mkdirSync(folder);
  await until(() => copies(vault).length > 0);
  cpSync(vault.config.backupsDir, folder, { recursive: true });
  const kept = readdirSync(folder).filter((name) => name.endsWith(".keys"));
  const epoch = kept[0]!.split(".")[0]!;
  t.ok(epochs(vault).includes(`${epoch}.epoch`));
  const key = readFileSync(join(vault.config.epochsDir, `${epoch}.epoch`));
  await until(() => !epochs(vault).includes(`${epoch}.epoch`));
  // Its copies go with it.
  await until(() => !copies(vault).some((name) => name.startsWith(epoch)));
  t.notOk(
    epochs(vault).some((name) => readFileSync(join(vault.config.epochsDir, name)).equals(key)),
  );
  t.ok(epochs(vault).length > 0, "the next epochs live");
  await vault.stop();
  t.match(vault.restore(join(folder, kept[0]!)), { status: 1, stderr: /EpochOver/ });
});

t.test("a copy that was changed is none", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await until(() => copies(vault).length > 0);
  await vault.stop();
  const file = join(auditd.root, "changed.keys");
  const bytes = readFileSync(join(vault.config.backupsDir, copies(vault)[0]!));
  for (const [at, code] of [
    [bytes.length - 1, /UnsealError/],
    [bytes.indexOf("at") + 6, /UnsealError|BackupFault/],
    [0, /BackupFault/],
  ] as const) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 0x01;
    writeFileSync(file, changed);
    t.match(vault.restore(file), { status: 1, stderr: code });
  }
});

t.test("which keys of a copy may come back", async (t) => {
  const key = { subject: "usr-1", month: "2026-03", madeAt: 100 };
  const erasure = {
    kind: "erasure",
    subject: "usr-1",
    before: null,
    class: null,
    destroyedAt: 200,
  } as const;
  const retention = {
    kind: "retention",
    subject: null,
    before: "2026-04",
    class: "disclosures",
    destroyedAt: 200,
  } as const;
  for (const [acts, may, why] of [
    [[], true, "nothing was destroyed"],
    [[erasure], false, "it was erased"],
    [[{ ...erasure, subject: "usr-2" }], true, "somebody else was"],
    [[{ ...erasure, destroyedAt: 50 }], true, "it was made after the erasure"],
    [[retention], false, "it was too old"],
    [[{ ...retention, before: "2026-03" }], true, "its month was kept"],
    [[{ ...retention, class: "anonymous" }], true, "another class was"],
  ] as const)
    t.equal(mayRestore(key, acts), may, why);
});

t.test(
  "the key of tokens comes back with a copy, so that what they found is still found",
  async (t) => {
    const lost = await PartsFixture.open(t);
    await lost.parts.keys.keyFor({ subject: "usr-1", month: "2026-11" });
    const key = Buffer.from(await lost.parts.keys.tokenKey());
    await lost.parts.epochs.backUp(Date.now());
    lost[Symbol.dispose]();
    const { keysDir, backupsDir } = lost.config;
    for (const name of readdirSync(keysDir)) rmSync(join(keysDir, name));
    const [copy = ""] = readdirSync(backupsDir);
    t.match(await restoreKeys(lost.config, join(backupsDir, copy)), { restored: 2, kept: 0 });
    t.match(await restoreKeys(lost.config, join(backupsDir, copy)), { restored: 0, kept: 2 });
    using back = await lost.reopened();
    t.same(await back.parts.keys.tokenKey(), key);
  },
);

t.test(
  "a key that was made between an erasure's request and its end does not come back",
  async (t) => {
    const vault = await PartsFixture.open(t);
    const op = vault.erasureAsked("usr-1");
    await nextMillisecond();
    await vault.seal({ subject: "usr-1", month: "2026-11" }, 1);
    await vault.parts.epochs.backUp(Date.now());
    await nextMillisecond();
    t.match(await vault.erasures.goOn(op), { state: "done" });
    await vault.seal({ subject: "usr-2", month: "2026-11" }, 1);
    vault[Symbol.dispose]();
    const [copy = ""] = readdirSync(vault.config.backupsDir);
    t.match(await restoreKeys(vault.config, join(vault.config.backupsDir, copy)), {
      restored: 0,
      destroyed: 1,
    });
  },
);

/** What happens from now on has a later time. */
async function nextMillisecond(): Promise<void> {
  for (const at = Date.now(); Date.now() <= at; ) await sleep(1);
}
