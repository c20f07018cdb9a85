import type { JobListReply } from "@resontech/contracts/http-jobs";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { applyToRow } from "../../live/apply-to-list.ts";
import { useTopic } from "../../live/live.ts";

const LIVING = { state: "-SUCCEEDED,-FAILED,-CANCELLED,-EXPIRED,-REJECTED", limit: 20 };
const queryKey = ["jobs", "living"];

/** Jobs that wait and run, and how many there are in each state. */
export function useLivingJobs() {
  const client = useQueryClient();
  useTopic(
    { kind: "jobs" },
    (told) => {
      client.setQueryData<JobListReply>(queryKey, (old) =>
        old === undefined
          ? old
          : { ...old, jobs: old.jobs.map((row) => told.reduce(applyToRow, row)) },
      );
      // How many there are of each state is the API's to count.
      if (told.some(({ change }) => change.kind === "job"))
        void client.invalidateQueries({ queryKey });
    },
    () => void client.invalidateQueries({ queryKey }),
  );
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/jobs", { query: LIVING, signal }),
  });
}
