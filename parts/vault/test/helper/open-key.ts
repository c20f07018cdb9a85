/** A vault whose key lay open, and is sealed from now on. */
import { existsSync, readFileSync } from "node:fs";
import type { Test } from "tap";
import { until } from "@resontech/audit/testing/until";
import { disclosing } from "./privacy-requests.ts";
import { gateOf, startedBoth } from "./started-both.ts";
import { say } from "./say.ts";
import type { VaultFixture } from "./vault-fixture.ts";

/**
 * Seals what the open key had sealed a value under, and asks for the value.
 * @param configure names in the configuration what seals; `root` is the test's folder
 * @param suffix of the sealed file
 */
export async function openKeyIsSealed(
  t: Test,
  configure: (vault: VaultFixture, root: string) => void | Promise<void>,
  suffix: string,
): Promise<void> {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  const said = await say(gate, "usr-1", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  await vault.stop();
  const key = readFileSync(vault.config.keyFile);

  await configure(vault, auditd.root);
  vault.writeConfig();
  await vault.start();
  t.notOk(existsSync(vault.config.keyFile));
  t.notOk(readFileSync(`${vault.config.keyFile}${suffix}`).includes(key));
  await until(async () => (await vault.status()).connected);
  const [line] = await vault.askAll(disclosing(auditd));
  t.match(line, { value: "10.0.0.1", salt: said.salt });
}
