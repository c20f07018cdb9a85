import { readFileSync } from "node:fs";
import { type AlertTarget, AlertTargets } from "@resontech/contracts/alert-targets";
import { Value } from "typebox/value";

/** Root alone writes the file. None where there is none. @throws where it is no such file */
export function readTargets(file: string): AlertTarget[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  const value: unknown = JSON.parse(text);
  const [fault] = Value.Errors(AlertTargets, value);
  if (fault !== undefined) throw new Error(`${file}: ${fault.instancePath} ${fault.message}`);
  return (value as AlertTargets).targets;
}
