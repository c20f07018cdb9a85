import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../api/ask.ts";
import { Button } from "./button.tsx";
import { Failure } from "./notice.tsx";
import { useAction } from "./use-action.ts";

const KEY = ["job-mails"] as const;

/** A mail at the end of one job, or of each own job. @param job absent: of each */
export function Bell({ job }: { job?: string }) {
  const client = useQueryClient();
  const wishes = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => ask("GET", "/api/job-mails", { signal }),
  });
  const { run, isBusy, error } = useAction(async (isWanted: boolean) => {
    const method = isWanted ? "PUT" : "DELETE";
    const now =
      job === undefined
        ? await ask(method, "/api/job-mails")
        : await ask(method, "/api/job-mails/{id}", { params: { id: job } });
    client.setQueryData(KEY, now);
  });
  if (wishes.data === undefined) return null;
  const { all, jobs } = wishes.data;
  const isOn = job === undefined ? all : jobs.includes(job);
  const what = job === undefined ? "when my jobs end" : "when it ends";
  return (
    <>
      <Button isDisabled={isBusy} aria-pressed={isOn} onPress={() => run(!isOn)}>
        <Icon isOn={isOn} /> {isOn ? `Mail ${what}: on` : `Mail me ${what}`}
      </Button>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}

/** Filled where mails come. */
function Icon({ isOn }: { isOn: boolean }) {
  return (
    <svg aria-hidden="true" width="1em" height="1em" viewBox="0 0 16 16">
      <path
        d="M8 1a4 4 0 0 0-4 4c0 4-2 5-2 6h12c0-1-2-2-2-6a4 4 0 0 0-4-4zM6.5 13a1.5 1.5 0 0 0 3 0z"
        fill={isOn ? "currentColor" : "none"}
        stroke="currentColor"
      />
    </svg>
  );
}
