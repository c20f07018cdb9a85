import type { JobOrderReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { State } from "../../ui/state.tsx";
import { jobWord } from "../../ui/state-word.ts";

/** Jobs that this one starts after, and that start after it: facts of a list. Nothing where there are none. @param state of the job: with it the others may have moved */
export function OrderFacts({ jobId, state }: { jobId: string; state: string }) {
  const order = useQuery({
    queryKey: ["job", jobId, "order", state],
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/order", { params: { id: jobId }, signal }),
  });
  if (order.data === undefined) return null;
  return (
    <>
      <Jobs title="Starts after" jobs={order.data.after} />
      <Jobs title="Followed by" jobs={order.data.before} />
    </>
  );
}

function Jobs({ title, jobs }: { title: string; jobs: JobOrderReply["after"] }) {
  if (jobs.length === 0) return null;
  return (
    <div>
      <dt>{title}</dt>
      {jobs.map(({ job, name, when, state }) => (
        <dd key={job}>
          <Link href={`/jobs/${job}`}>{name}</Link> <State of={jobWord(state)} />
          {when === "ended" ? " however it ends" : ""}
        </dd>
      ))}
    </div>
  );
}
