import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pkcs11js from "pkcs11js";
import t, { type Test } from "tap";
import { connectProducer } from "../../src/producer/producer.ts";
import { AuditdFixture, keyList, readLeaves, temporaryFolder, verified } from "../helper.ts";

const MODULE = "/usr/lib/softhsm/libsofthsm2.so";
const PIN = "4711-0815";
const NOVEMBER = Date.UTC(2026, 10, 5, 10);
const DECEMBER = Date.UTC(2026, 11, 20, 10);
const JANUARY = Date.UTC(2027, 0, 2);

/** auditd whose Ed25519 keys lie in a token of SoftHSM, in a folder of the test's own. */
function auditdWithToken(t: Test, pin = PIN): AuditdFixture {
  const root = temporaryFolder(t);
  mkdirSync(join(root, "tokens"), { mode: 0o700 });
  const conf = join(root, "softhsm2.conf");
  writeFileSync(conf, `directories.tokendir = ${join(root, "tokens")}\n`);
  // One token for each test; the fixture's processes take the environment over.
  process.env["SOFTHSM2_CONF"] = conf;
  execFileSync("softhsm2-util", ["--init-token", "--free", "--label", "log", "--pin", PIN, "--so-pin", "so-pin-9"]);
  const pinFile = join(root, "pin");
  writeFileSync(pinFile, `${pin}\n`, { mode: 0o400 });
  const auditd = new AuditdFixture(root, { token: { module: MODULE, label: "log", pinFile }, learnMs: 0 });
  t.teardown(() => auditd.stop("SIGKILL"));
  return auditd;
}

/** What the token itself says of its private keys, by a session of the test's own. */
function privateKeys(): { label: string; extractable: boolean; sensitive: boolean }[] {
  const module = new pkcs11js.PKCS11();
  module.load(MODULE);
  module.C_Initialize();
  try {
    const slot = module.C_GetSlotList(true).find((one) => module.C_GetTokenInfo(one).label.trim() === "log")!;
    const session = module.C_OpenSession(slot, pkcs11js.CKF_SERIAL_SESSION);
    module.C_Login(session, pkcs11js.CKU_USER, PIN);
    module.C_FindObjectsInit(session, [{ type: pkcs11js.CKA_CLASS, value: pkcs11js.CKO_PRIVATE_KEY }]);
    const found = module.C_FindObjects(session, 10);
    module.C_FindObjectsFinal(session);
    const types = [pkcs11js.CKA_LABEL, pkcs11js.CKA_EXTRACTABLE, pkcs11js.CKA_SENSITIVE];
    return found.map((key) => {
      const values = module
        .C_GetAttributeValue(
          session,
          key,
          types.map((type) => ({ type })),
        )
        .map(({ value }) => value);
      return { label: values[0]!.toString(), extractable: values[1]![0] === 1, sensitive: values[2]![0] === 1 };
    });
  } finally {
    module.C_Finalize();
    module.close();
  }
}

t.test("a key that is made in a token signs the log, life after life, and never leaves the token", async (t) => {
  const auditd = auditdWithToken(t);
  auditd.init();
  const { keysDir } = auditd.config;
  t.same(
    readdirSync(keysDir).filter((name) => name.includes("ed25519")),
    [],
  );
  for (let life = 0; life < 2; life++) {
    await auditd.start();
    await using producer = await connectProducer({ socketPath: auditd.socket("coordinator-gate"), boot: crypto.randomUUID() });
    const { index } = await producer.fact(keyList());
    await producer.covered(index);
    await producer.close();
    await auditd.stop("SIGKILL");
  }
  t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } } });
  t.same(privateKeys(), [{ label: `box.audit.acme/${auditd.currentSlug}`, extractable: false, sensitive: true }]);
});

t.test("the next shard has a key of its own in the token, and the older one's is destroyed there", async (t) => {
  const auditd = auditdWithToken(t);
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
    privateKeys().map(({ label }) => label),
    ["box.audit.acme/2027"],
  );
});

t.test("a shard that began with a key in a file goes on with it, and the next one has its key in the token", async (t) => {
  const auditd = auditdWithToken(t);
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
  const inFiles = () => readdirSync(auditd.config.keysDir).filter((name) => name.includes("ed25519"));
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
  t.match(privateKeys(), [{ label: "box.audit.acme/2027" }]);
});

t.test("a wrong PIN is told and tried once, so that starts in a row do not lock the token", async (t) => {
  const auditd = auditdWithToken(t, "0000-0000");
  t.throws(() => auditd.init(), /CKR_PIN_INCORRECT/);
  for (let tries = 0; tries < 12; tries++) t.throws(() => auditd.init(), /a wrong PIN was given for log/);
  t.same(privateKeys(), [], "it still takes the right one");
});

t.test("what is not there is named: the token, the module, the key", async (t) => {
  const auditd = auditdWithToken(t);
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
  execFileSync("softhsm2-util", ["--delete-token", "--token", "log"]);
  execFileSync("softhsm2-util", ["--init-token", "--free", "--label", "log", "--pin", PIN, "--so-pin", "so-pin-9"]);
  await t.rejects(auditd.start(), { message: /there is no key box\.audit\.acme\/\d{4} in the token log/ });
  t.throws(() => auditd.init(), /its key .* in the token log is gone/, "a new one would hide that");
});
