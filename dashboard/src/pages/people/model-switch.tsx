import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useAction } from "../../ui/use-action.ts";

const PROJECTS = ["projects"];

/** Whether a model that holds no numbers is a failure of its job. Without it the job succeeds, and result and rounds are marked. */
export function ModelSwitch({ project }: { project: { id: string; name: string } }) {
  const client = useQueryClient();
  const projects = useQuery({
    queryKey: PROJECTS,
    queryFn: ({ signal }) => ask("GET", "/api/projects", { signal }),
  });
  // Shown until the appliance says what is in force.
  const [wanted, setWanted] = useState<boolean | null>(null);
  const change = useAction(async (refusesNonFinite: boolean) => {
    setWanted(refusesNonFinite);
    try {
      await ask("PUT", "/api/projects/{id}/models", {
        params: { id: project.id },
        body: { refusesNonFinite },
      });
      await client.invalidateQueries({ queryKey: PROJECTS });
    } finally {
      setWanted(null);
    }
  });
  if (projects.isError)
    return <Failure error={projects.error} retry={() => void projects.refetch()} />;
  const own = projects.data?.find(({ id }) => id === project.id);
  // An empty box before the answer would tell that nothing is refused.
  if (own === undefined) return <Skeleton rows={1} />;
  return (
    <>
      <p>
        <label>
          <input
            type="checkbox"
            checked={wanted ?? own.refusesNonFinite}
            disabled={change.isBusy}
            onChange={({ target }) => change.run(target.checked)}
          />{" "}
          A model with weights that are no numbers (NaN or infinite) fails its job in {project.name}
        </label>
      </p>
      {change.error === null ? null : <Failure error={change.error} />}
    </>
  );
}
