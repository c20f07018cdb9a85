/** Why a job failed and what to do about it, as its page says them. Pure. */
import { bytes } from "../../ui/bytes.ts";

const MANY_BYTES = /\b(\d{5,}) bytes\b/g;

/** A limit as a person reads it. */
export function errorMessage(message: string): string {
  return message.replace(MANY_BYTES, (_, count: string) => bytes(Number(count)));
}

/** The API's field `detail` is the text below the hint. */
export function errorHint(hint: string): string {
  return hint
    .replace("state estimatedMemoryMb", "ask for more memory")
    .replace(/ in `detail`/g, " below")
    .replace(/`detail` /g, "the text below ");
}
