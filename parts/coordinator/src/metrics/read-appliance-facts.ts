import { readFileSync } from "node:fs";
import { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import { Value } from "typebox/value";

/** What the supervisor wrote last; null where there is no such file, or one of another release. */
export function readApplianceFacts(file: string): ApplianceFacts | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Value.Check(ApplianceFacts, value) ? value : null;
  } catch {
    return null;
  }
}
