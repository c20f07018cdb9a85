import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pkcs11js from "pkcs11js";
import t, { type Test } from "tap";
import { tokenSeal } from "@resontech/audit/keys/token-seal";
import { openKeyFile } from "../src/keys/key-encryption-key.ts";
import { until } from "@resontech/audit/testing/until";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { SoftHsm } from "@resontech/audit/testing/soft-hsm";
import { VaultFixture } from "./helper/vault-fixture.ts";
import { openKeyIsSealed } from "./helper/open-key.ts";

const KEY = "box.vault.acme";
const { CKO_SECRET_KEY } = pkcs11js;
const PLAIN = Buffer.alloc(32, 7);

function withToken(
  t: Test,
  options?: ConstructorParameters<typeof SoftHsm>[2],
): { vault: VaultFixture; hsm: SoftHsm } {
  const root = temporaryFolder(t);
  const hsm = new SoftHsm(root, "vault", options);
  const vault = new VaultFixture(root, { token: { ...hsm.config, keyLabel: KEY } });
  t.teardown(() => vault.stop("SIGKILL"));
  return { vault, hsm };
}

/** A key of the name that the vault's has, made by somebody else. */
function makeKey(hsm: SoftHsm, { bytes = 32, isExtractable = false }): void {
  hsm.inSession((module, session) =>
    module.C_GenerateKey(session, { mechanism: pkcs11js.CKM_AES_KEY_GEN }, [
      { type: pkcs11js.CKA_TOKEN, value: true },
      { type: pkcs11js.CKA_LABEL, value: KEY },
      { type: pkcs11js.CKA_VALUE_LEN, value: bytes },
      { type: pkcs11js.CKA_SENSITIVE, value: true },
      { type: pkcs11js.CKA_EXTRACTABLE, value: isExtractable },
      { type: pkcs11js.CKA_ENCRYPT, value: true },
      { type: pkcs11js.CKA_DECRYPT, value: true },
    ]),
  );
}

t.test(
  "the key lies under one that a token made and never gives out, life after life",
  async (t) => {
    const { vault, hsm } = withToken(t);
    const sealed = `${vault.config.keyFile}.p11`;
    await vault.start();
    await vault.stop();
    const before = readFileSync(sealed);
    t.equal(before.length, 12 + 32 + 16);
    await vault.start();
    t.same(readFileSync(sealed), before);
    t.notOk(existsSync(vault.config.keyFile), "nothing lies beside it");
    t.same(hsm.keys(CKO_SECRET_KEY), [{ label: KEY, extractable: false, sensitive: true }]);
    await vault.stop();
    delete vault.config.token;
    vault.writeConfig();
    await t.rejects(vault.start(), {
      message: /vault\.key\.p11 is sealed by a token, and the configuration names none/,
    });
    t.notOk(existsSync(vault.config.keyFile));
  },
);

t.test(
  "a key that lay open is sealed, opens what it opened before, and the open file is destroyed",
  async (t) => {
    const naming = (vault: VaultFixture, root: string): void => {
      vault.config.token = { ...new SoftHsm(root, "vault").config, keyLabel: KEY };
    };
    await openKeyIsSealed(t, naming, ".p11");
  },
);

t.test("a token that lost the key is told, and none is made in its place", async (t) => {
  const { vault, hsm } = withToken(t);
  await vault.start();
  await vault.stop();
  const sealed = `${vault.config.keyFile}.p11`;
  const before = readFileSync(sealed);
  hsm.reset();
  await t.rejects(vault.start(), {
    message: /ConfigError: .*vault\.key\.p11: there is no key box\.vault\.acme in the token vault/,
  });
  t.same(readFileSync(sealed), before);
  t.same(hsm.keys(CKO_SECRET_KEY), []);
});

t.test("a wrong PIN is told and tried once, and no key is kept unsealed instead", async (t) => {
  const { vault, hsm } = withToken(t, { pin: "0000-0000" });
  await t.rejects(vault.start(), { message: /ConfigError: .*CKR_PIN_INCORRECT/ });
  for (let tries = 0; tries < 3; tries++)
    await t.rejects(vault.start(), { message: /a wrong PIN was given for vault/ });
  t.same(hsm.keys(CKO_SECRET_KEY), [], "it still takes the right one");
  t.notOk(existsSync(vault.config.keyFile));
  t.notOk(existsSync(`${vault.config.keyFile}.p11`));
});

t.test("a token and a TPM are not configured at once", async (t) => {
  const { vault } = withToken(t);
  vault.config.tpm = { device: "auto", pcrs: [7] };
  vault.writeConfig();
  await t.rejects(vault.start(), {
    message:
      /ConfigError: .*\/token: the key file is sealed by the token or by the TPM, not by both/,
  });
});

t.test("a file that another holder sealed is named, and nothing is made beside it", async (t) => {
  const { vault, hsm } = withToken(t);
  const { keyFile } = vault.config;
  const seal = tokenSeal({ ...hsm.config, keyLabel: KEY });
  for (const plain of [false, true]) {
    writeFileSync(`${keyFile}.tpm`, "sealed", { mode: 0o400 });
    if (plain) writeFileSync(keyFile, PLAIN, { mode: 0o400 });
    for (const one of [seal, null])
      await t.rejects(openKeyFile(keyFile, true, one), {
        code: "config_invalid",
        message: /vault\.key\.tpm is sealed by a TPM, and the configuration names none/,
      });
    t.notOk(existsSync(`${keyFile}.p11`));
    t.equal(existsSync(keyFile), plain);
  }
});

t.test(
  "a start that was killed before the open file was destroyed is made good; another key in it is told and stays",
  async (t) => {
    const { vault, hsm } = withToken(t);
    const { keyFile } = vault.config;
    const seal = tokenSeal({ ...hsm.config, keyLabel: KEY });
    writeFileSync(`${keyFile}.p11`, await seal.seal(PLAIN, "vault.key.p11"), { mode: 0o400 });
    writeFileSync(keyFile, PLAIN, { mode: 0o400 });
    await openKeyFile(keyFile, false, seal);
    t.notOk(existsSync(keyFile));
    writeFileSync(keyFile, Buffer.alloc(32, 8), { mode: 0o400 });
    await t.rejects(openKeyFile(keyFile, false, seal), {
      code: "config_invalid",
      message: /hold two keys/,
    });
    t.ok(existsSync(keyFile));
  },
);

t.test(
  "two appliances have each a key of their own in one token, and neither opens the other's file",
  async (t) => {
    const root = temporaryFolder(t);
    const hsm = new SoftHsm(root, "vault");
    const [ours, theirs] = ["one.vault.acme", "two.vault.acme"].map((keyLabel) =>
      tokenSeal({ ...hsm.config, keyLabel }),
    );
    const sealed = await ours!.seal(PLAIN, "key.p11");
    await theirs!.seal(PLAIN, "key.p11");
    t.same(await ours!.unseal(sealed, "key.p11"), PLAIN);
    await t.rejects(theirs!.unseal(sealed, "key.p11"), {
      message: /the token vault does not open it: CKR_/,
    });
  },
);

t.test("what was changed, cut short, or sealed as another file does not open", async (t) => {
  const hsm = new SoftHsm(temporaryFolder(t), "vault");
  const seal = tokenSeal({ ...hsm.config, keyLabel: KEY });
  const sealed = await seal.seal(PLAIN, "key.p11");
  t.notSame(await seal.seal(PLAIN, "key.p11"), sealed, "no IV twice");
  t.equal(hsm.keys(CKO_SECRET_KEY).length, 1);
  for (const at of [0, 20, 59]) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    await t.rejects(seal.unseal(changed, "key.p11"), {
      message: /the token vault does not open it/,
    });
  }
  await t.rejects(seal.unseal(sealed.subarray(0, 27), "key.p11"), {
    message: /too short to be sealed/,
  });
  await t.rejects(seal.unseal(sealed, "other.p11"), {
    message: /the token vault does not open it/,
  });
});

t.test(
  "a key of the vault's name that could leave the token, or is a shorter one, or is there twice, is not used",
  async (t) => {
    for (const [make, message] of [
      [{ isExtractable: true }, /is no AES-256 key that stays in the token/],
      [{ bytes: 16 }, /is no AES-256 key that stays in the token/],
    ] as const) {
      const hsm = new SoftHsm(temporaryFolder(t), "vault");
      makeKey(hsm, make);
      await t.rejects(tokenSeal({ ...hsm.config, keyLabel: KEY }).seal(PLAIN, "key.p11"), {
        message,
      });
    }
    const hsm = new SoftHsm(temporaryFolder(t), "vault");
    for (let made = 0; made < 2; made++) makeKey(hsm, {});
    await t.rejects(tokenSeal({ ...hsm.config, keyLabel: KEY }).seal(PLAIN, "key.p11"), {
      message: /the token vault holds two keys box\.vault\.acme/,
    });
  },
);

t.test("a token without AES-GCM is told, and gets no key", async (t) => {
  const { vault, hsm } = withToken(t, { mechanisms: "CKM_AES_KEY_GEN" });
  await t.rejects(vault.start(), {
    message: /ConfigError: .*vault\.key\.p11: the token vault has no CKM_AES_GCM/,
  });
  t.same(hsm.keys(CKO_SECRET_KEY), []);
});

t.test("what is not there is named: the token, the module", async (t) => {
  const { vault } = withToken(t);
  const { token } = vault.config;
  vault.config.token = { ...token!, label: "other" };
  vault.writeConfig();
  await t.rejects(vault.start(), {
    message: /vault\.key\.p11: \/usr\/lib\/softhsm\/libsofthsm2\.so: there is no token other/,
  });
  vault.config.token = { ...token!, module: "/nowhere/module.so" };
  vault.writeConfig();
  await t.rejects(vault.start(), { message: /\/nowhere\/module\.so/ });
});

/** A module that hangs: the loader waits for a writer that never comes. */
function hanging(root: string): string {
  const module = join(root, "hangs.so");
  execFileSync("mkfifo", [module]);
  return module;
}

/** Processes of this one's that work with a token. */
function tokenProcesses(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
    .split(" ")
    .filter(Boolean);
  const isOne = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("token-program");
    } catch {
      return false;
    }
  };
  return children.filter(isOne).map(Number);
}

t.test("a module that hangs is left after its time, and its process ended", async (t) => {
  const root = temporaryFolder(t);
  const hsm = new SoftHsm(root, "vault");
  const keyFile = join(root, "vault.key");
  const seal = tokenSeal({ ...hsm.config, module: hanging(root), keyLabel: KEY }, 3_000);
  await t.rejects(openKeyFile(keyFile, true, seal), {
    code: "config_invalid",
    message: /vault\.key\.p11: the token vault does not answer for 3000 ms/,
  });
  t.notOk(existsSync(`${keyFile}.p11`));
  await until(() => tokenProcesses().length === 0);
});

t.test("a module that crashes takes its own process with it, and that is told", async (t) => {
  const root = temporaryFolder(t);
  const hsm = new SoftHsm(root, "vault");
  const sealing = tokenSeal({ ...hsm.config, module: hanging(root), keyLabel: KEY }).seal(
    PLAIN,
    "key.p11",
  );
  const told = t.rejects(sealing, { message: /the process of the token vault ended with SIGSEGV/ });
  await until(() => tokenProcesses().length === 1);
  for (const pid of tokenProcesses()) process.kill(pid, "SIGSEGV");
  await told;
});
