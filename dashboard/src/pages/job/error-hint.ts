/** Why a job failed and what to do about it, as its page says them. Pure. */
import { withSizes } from "@resontech/contracts/size-words";
import { bytes } from "../../ui/bytes.ts";

/** A limit as a person reads it. */
export function errorMessage(message: string): string {
  return withSizes(message, bytes);
}

/** The API's field `detail` is the text below the hint. */
export function errorHint(hint: string): string {
  return hint
    .replace("state estimatedMemoryMb", "ask for more memory")
    .replace(/ in `detail`/g, " below")
    .replace(/`detail` /g, "the text below ");
}
