import { withSizes } from "@resontech/contracts/size-words";
import { bytes } from "./bytes.ts";
import { sentenceCase } from "./sentence-case.ts";

/** What the coordinator says of a job that waits, as a page says it; null where it says nothing. Pure. */
export function waitingSentence(why: string | null): string | null {
  return why === null ? null : sentenceCase(withSizes(why, bytes));
}
