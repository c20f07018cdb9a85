import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useProject } from "./use-project.ts";

/** Whether a model that holds no numbers is a failure of its job. Without it the job succeeds, and result and rounds are marked. */
export function ModelSwitch({ project: { id, name } }: { project: { id: string; name: string } }) {
  const { project, error, again } = useProject(id);
  // Shown until the appliance says what is in force.
  const [wanted, setWanted] = useState<boolean | null>(null);
  const change = useAction(async (refusesNonFinite: boolean) => {
    setWanted(refusesNonFinite);
    try {
      await ask("PUT", "/api/projects/{id}/models", { params: { id }, body: { refusesNonFinite } });
      await again();
    } finally {
      setWanted(null);
    }
  });
  // An empty box before the answer would tell that nothing is refused.
  if (project === null)
    return error === null ? (
      <Skeleton rows={1} />
    ) : (
      <Failure error={error} retry={() => void again()} />
    );
  return (
    <>
      <p>
        <label>
          <input
            type="checkbox"
            checked={wanted ?? project.refusesNonFinite}
            disabled={change.isBusy}
            onChange={({ target }) => change.run(target.checked)}
          />{" "}
          A model with weights that are no numbers (NaN or infinite) fails its job in {name}
        </label>
      </p>
      {change.error === null ? null : <Failure error={change.error} />}
    </>
  );
}
