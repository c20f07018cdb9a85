import { readFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { disclosing, erase } from "@resontech/vault/testing/privacy-requests";
import { gateOf, startedBoth } from "@resontech/vault/testing/started-both";
import { say } from "@resontech/vault/testing/say";
import { until } from "@resontech/audit/testing/until";
import type { VaultStatus } from "@resontech/contracts/vault-control";
import { askVault, linesOfVault } from "../../src/operator/ask-vault.ts";
import { closesConnection } from "../../src/parts/health.ts";

t.test("the vault's health is asked without a question, and it hangs up", async (t) => {
  const [, vault] = await startedBoth(t);
  t.equal(await closesConnection(vault.config.controlSocket), true);
  t.equal(await closesConnection(join(vault.root, "nobody")), false);
});

t.test("an answer comes whole, a refusal with its code, a disclosure line by line", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  const gate = await gateOf(auditd);
  const { index, salt } = await say(gate, "usr-1", "10.1.2.3");
  await gate.close();
  const { controlSocket } = vault.config;
  await until(
    async () => (await askVault<VaultStatus>(controlSocket, { verb: "status" })).sealed === 1,
  );
  const refused = askVault(controlSocket, {
    ...erase("usr-1"),
    approval: erase("usr-2").approval,
  });
  await t.rejects(refused, { name: "VaultRefusedError", code: "step_up_nonce" });
  const origin =
    (await readFile(join(auditd.logDir, "checkpoint"), "utf8")).split("\n", 1)[0] ?? "";
  const lines: object[] = [];
  for await (const line of linesOfVault(controlSocket, disclosing(origin))) lines.push(line);
  t.match(lines, [{ index, salt, value: "10.1.2.3" }, { end: { opened: 1, erased: 0 } }]);
  await t.rejects(askVault(join(vault.root, "nobody"), { verb: "status" }), { code: "part_away" });
});
