import { readdirSync, writeFileSync } from "node:fs";
import pkcs11js from "pkcs11js";
import t, { type Test } from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "./helper/verified.ts";
import { SoftHsm } from "@resontech/audit/testing/soft-hsm";

const NOVEMBER = Date.UTC(2026, 10, 5, 10);
const DECEMBER = Date.UTC(2026, 11, 20, 10);
const JANUARY = Date.UTC(2027, 0, 2);

/** auditd whose Ed25519 keys lie in a token. */
function auditdWithToken(t: Test, pin?: string): { auditd: AuditdFixture; hsm: SoftHsm } {
  const root = temporaryFolder(t);
  const hsm = new SoftHsm(root, "log", pin === undefined ? {} : { pin });
  const auditd = new AuditdFixture(root, { token: hsm.config, learnMs: 0 });
  t.teardown(() => auditd.stop("SIGKILL"));
  return { auditd, hsm };
}

t.test(
  "a key that is made in a token signs the log, life after life, and never leaves the token",
  async (t) => {
    const { auditd, hsm } = auditdWithToken(t);
    auditd.init();
    const { keysDir } = auditd.config;
    t.same(
      readdirSync(keysDir).filter((name) => name.includes("ed25519")),
      [],
    );
    for (let life = 0; life < 2; life++) {
      await auditd.start();
      await using producer = await connectProducer({
        socketPath: auditd.socket("coordinator-gate"),
        boot: crypto.randomUUID(),
      });
      const { index } = await producer.fact(keyList());
      await producer.covered(index);
      await producer.close();
      await auditd.stop("SIGKILL");
    }
    t.match(await verified(auditd), {
      verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
    });
    t.same(hsm.keys(pkcs11js.CKO_PRIVATE_KEY), [
      { label: `box.audit.acme/${auditd.currentSlug}`, extractable: false, sensitive: true },
    ]);
  },
);

t.test(
  "the next shard has a key of its own in the token, and the older one's is destroyed there",
  async (t) => {
    const { auditd, hsm } = auditdWithToken(t);
    auditd.clockMs = DECEMBER;
    auditd.config.inception = "2026-12-20";
    writeFileSync(auditd.configFile, JSON.stringify(auditd.config));
    auditd.init();
    await auditd.start();
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    await auditd.stop();
    t.equal(auditd.currentSlug, "2027");
    t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" } } });
    t.match((await readLeaves(auditd.shardDir("2027")))[0], { type: "audit.shard.open" });
    t.same(
      hsm.keys(pkcs11js.CKO_PRIVATE_KEY).map(({ label }) => label),
      ["box.audit.acme/2027"],
    );
  },
);

t.test(
  "a shard that began with a key in a file goes on with it, and the next one has its key in the token",
  async (t) => {
    const { auditd, hsm } = auditdWithToken(t);
    const { token: _token, ...without } = auditd.config;
    auditd.clockMs = NOVEMBER;
    writeFileSync(auditd.configFile, JSON.stringify({ ...without, inception: "2026-11-05" }));
    auditd.init();
    await auditd.start();
    await auditd.stop();
    writeFileSync(auditd.configFile, JSON.stringify({ ...auditd.config, inception: "2026-11-05" }));
    auditd.init();
    await auditd.start();
    await auditd.stop();
    t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" } } });
    const inFiles = () =>
      readdirSync(auditd.config.keysDir).filter((name) => name.includes("ed25519"));
    t.same(inFiles(), ["2026.ed25519.pem"]);
    for (const now of [DECEMBER, JANUARY]) {
      await auditd.stop();
      auditd.clockMs = now;
      await auditd.start();
    }
    await auditd.control({ verb: "clock-is-right" });
    await auditd.stop();
    t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" } } });
    t.same(inFiles(), []);
    t.match(hsm.keys(pkcs11js.CKO_PRIVATE_KEY), [{ label: "box.audit.acme/2027" }]);
  },
);

t.test(
  "a wrong PIN is told and tried once, so that starts in a row do not lock the token",
  async (t) => {
    const { auditd, hsm } = auditdWithToken(t, "0000-0000");
    t.throws(() => auditd.init(), /CKR_PIN_INCORRECT/);
    for (let tries = 0; tries < 12; tries++)
      t.throws(() => auditd.init(), /a wrong PIN was given for log/);
    t.same(hsm.keys(pkcs11js.CKO_PRIVATE_KEY), [], "it still takes the right one");
  },
);

t.test("what is not there is named: the token, the module, the key", async (t) => {
  const { auditd, hsm } = auditdWithToken(t);
  const { token } = auditd.config;
  auditd.config.token = { ...token!, label: "other" };
  writeFileSync(auditd.configFile, JSON.stringify(auditd.config));
  t.throws(() => auditd.init(), /there is no token other/);
  auditd.config.token = { ...token!, module: "/nowhere/module.so" };
  writeFileSync(auditd.configFile, JSON.stringify(auditd.config));
  t.throws(() => auditd.init(), /\/nowhere\/module\.so/);
  auditd.config.token = token!;
  writeFileSync(auditd.configFile, JSON.stringify(auditd.config));
  auditd.init();
  hsm.reset();
  await t.rejects(auditd.start(), {
    message: /there is no key box\.audit\.acme\/\d{4} in the token log/,
  });
  t.throws(() => auditd.init(), /its key .* in the token log is gone/, "a new one would hide that");
});
