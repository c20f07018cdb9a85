import { useState } from "react";
import { asProblem } from "../api/problem.ts";

/** Something that a person does: one at a time, and what went wrong stays until the next try. */
export function useAction<Args extends unknown[]>(
  effect: (...args: Args) => Promise<void>,
): { run: (...args: Args) => void; isBusy: boolean; error: unknown; forget: () => void } {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (...args: Args) => {
    setBusy(true);
    setError(null);
    try {
      await effect(...args);
    } catch (failed) {
      // What was filled in is kept, and there to be sent again.
      if (asProblem(failed).code === "step_up_required") return goToStepUp();
      setError(failed);
    } finally {
      setBusy(false);
    }
  };
  return { run: (...args) => void run(...args), isBusy, error, forget: () => setError(null) };
}

function goToStepUp(): void {
  const back = `${location.pathname}${location.search}`;
  location.assign(`/auth/step-up?return=${encodeURIComponent(back)}`);
}
