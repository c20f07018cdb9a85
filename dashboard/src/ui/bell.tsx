import type { JobMailsReply } from "@resontech/contracts/http-jobs";
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
    queryFn: ({ signal }) => ask<JobMailsReply>("GET", "/api/job-mails", { signal }),
  });
  const { run, isBusy, error } = useAction(async (isWanted: boolean) => {
    const path = job === undefined ? "/api/job-mails" : `/api/job-mails/${job}`;
    client.setQueryData(KEY, await ask<JobMailsReply>(isWanted ? "PUT" : "DELETE", path));
  });
  if (wishes.data === undefined) return null;
  const { all, jobs } = wishes.data;
  const isOn = job === undefined ? all : jobs.includes(job);
  const what = job === undefined ? "when my jobs end" : "when it ends";
  return (
    <>
      <Button isDisabled={isBusy} aria-pressed={isOn} onPress={() => run(!isOn)}>
        <span aria-hidden="true">{isOn ? "🔔" : "🔕"}</span>{" "}
        {isOn ? `Mail ${what}: on` : `Mail me ${what}`}
      </Button>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}
