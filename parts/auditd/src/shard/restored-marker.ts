/**
 * `restored` in the log's folder: whoever puts the folder back leaves it. It may be empty. Whoever puts back more than the log writes into it what the
 * rest holds of the log: a process whose own start waits for the log can't say so before two people have decided.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { LeafRef } from "@resontech/audit/format/wire/frames";
import { ConfigError } from "../config.ts";

const MAX_BYTES = 65_536;
const closed = { additionalProperties: false };
const form = Compile(
  Type.Object(
    {
      acknowledged: Type.Array(
        Type.Object(
          {
            prod: Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }),
            index: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 }),
            leafHash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
          },
          closed,
        ),
        { maxItems: 64 },
      ),
    },
    closed,
  ),
);

export function restoredMarker({ auditDir }: Pick<AuditdConfig, "auditDir">): string {
  return join(auditDir, "restored");
}

/** What producers hold; none where there is no such file, or an empty one. @throws ConfigError */
export async function readRestoredMarker(
  config: Pick<AuditdConfig, "auditDir">,
): Promise<readonly (LeafRef & { prod: string })[]> {
  const file = restoredMarker(config);
  const text = await readFile(file, "utf8").catch(() => "");
  if (text.trim() === "") return [];
  const said: unknown = text.length > MAX_BYTES ? null : parsed(text);
  if (form.Check(said)) return said.acknowledged;
  throw new ConfigError(`${file} does not say what was acknowledged; leave it empty`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
