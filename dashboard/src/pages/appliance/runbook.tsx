import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import styles from "./appliance.module.css";

/** What the release says about an alert, read when somebody opens it. */
export function Runbook({ name }: { name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Runbook</summary>
      {isOpen ? <RunbookText name={name} /> : null}
    </details>
  );
}

function RunbookText({ name }: { name: string }) {
  const runbook = useQuery({
    queryKey: ["appliance", "runbook", name],
    queryFn: ({ signal }) =>
      ask("GET", "/api/appliance/runbooks/{name}", { params: { name }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (runbook.isPending) return <Skeleton rows={3} />;
  if (runbook.isError)
    return <Failure error={runbook.error} retry={() => void runbook.refetch()} />;
  return (
    <pre className={styles["runbook"]} tabIndex={0}>
      {runbook.data.text}
    </pre>
  );
}
