/** Puts the vault's keys back from a copy, after the disk that held them was lost. */
import { resolve } from "node:path";
import { connectOperator, operated } from "../audit/operator-record.ts";
import { readAuditKeys } from "../config/audit-keys.ts";
import { type PartContext, userOfPart } from "../parts/context.ts";
import { runOnce } from "../parts/run-once.ts";

export type RestoredKeys = { restored: number; kept: number; destroyed: number };

/**
 * What was destroyed on purpose stays destroyed. The vault must be stopped, and its user must be able to read the copy.
 * @throws AuditUnavailable before anything is put back, or with what the vault's program says
 */
export async function restoreVaultKeys(context: PartContext, copy: string): Promise<RestoredKeys> {
  const { layout } = context;
  await using producer = await connectOperator(layout);
  const operation = {
    ...({ type: "privacy.keys.restore", action: "appliance privacy restore-keys" } as const),
    object: { kind: "process", id: "vault" } as const,
  };
  return await operated(producer, [operation], async () => {
    const program = layout.release("app", "vault.mjs");
    const args = [program, "restore", resolve(copy), "--config", layout.processConfig("vault")];
    const environment = readAuditKeys(layout)?.environment;
    const said = await runOnce(
      layout.release("bin", "node"),
      args,
      userOfPart(context, "vault"),
      environment,
    );
    const result = JSON.parse(said) as RestoredKeys;
    return { result, detail: result };
  });
}
