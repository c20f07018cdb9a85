import { WIRE_STATES } from "@resontech/contracts/job-states";
import {
  ALL_JOB_WORDS,
  queryWord,
  readAskedStates,
  UnknownState,
} from "@resontech/contracts/state-words";
import { UsageError } from "./cli-error.ts";

export const STATE_HELP = `with commas between them: ${ALL_JOB_WORDS.map(queryWord).join(", ")}, or ${WIRE_STATES.join(", ")} as the Python client has them; one with a leading - is left out`;

/** What `--state` says, as the API takes it: exact states with commas between them. @throws UsageError */
export function askedStates(text: string): string {
  const states = read(text);
  if (states.length === 0)
    throw new UsageError("unknown_state", `${text} leaves no state over`, "Leave out fewer.");
  return states.join(",");
}

function read(text: string): string[] {
  try {
    return readAskedStates(text);
  } catch (error) {
    if (!(error instanceof UnknownState)) throw error;
    throw new UsageError(error.code, error.message, "A state with a leading - is left out.");
  }
}
