/** `used-approvals.json` beside the keys of the log: no approval changes the policy twice. Where it is damaged nothing is approved any more. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile, type WithRoom } from "@resontech/frame/durable-file";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { UsedApproval } from "../decisions/used-approvals.ts";
import { ControlRefused } from "../ports/control-port.ts";

const Used = Compile(
  Type.Array(Type.Object({ approval: Type.String(), atMs: Type.Integer(), done: Type.Boolean() })),
);

/** @throws ControlRefused where the file is there and says nothing */
export async function readUsedApprovals(keysDir: string): Promise<UsedApproval[]> {
  let text: string;
  try {
    text = await readFile(fileIn(keysDir), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  try {
    const used: unknown = JSON.parse(text);
    if (Used.Check(used)) return used;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ControlRefused(
    "used_approvals_damaged",
    `${fileIn(keysDir)} is damaged: it says which approvals were used, and without it none is taken`,
  );
}

/** Writes which approvals are used up; durable when it resolves. */
export async function writeUsedApprovals(
  keysDir: string,
  used: readonly UsedApproval[],
  withRoom: WithRoom,
): Promise<void> {
  await withRoom(() => replaceFile(fileIn(keysDir), `${JSON.stringify(used)}\n`, 0o600));
}

function fileIn(keysDir: string): string {
  return join(keysDir, "used-approvals.json");
}
