import type { TaskOutputsReply } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";

type Output = TaskOutputsReply[number];

const COLUMNS: Column<Output>[] = [
  { title: "File", of: ({ key }) => <code>{key}</code> },
  { title: "Size", of: ({ sizeBytes }) => bytes(sizeBytes), isNumber: true },
  { title: "Stored", of: ({ storedAt }) => <At at={storedAt} /> },
  { title: "SHA-256", of: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code> },
];

/** What the job left. */
export function Files({ jobId }: { jobId: string }) {
  const files = useQuery({
    queryKey: ["job", jobId, "files"],
    queryFn: ({ signal }) => ask<Output[]>("GET", `/api/tasks/${jobId}/outputs`, { signal }),
  });
  if (files.isPending) return <Skeleton />;
  if (files.isError) return <Failure error={files.error} retry={() => void files.refetch()} />;
  if (files.data.length === 0)
    return (
      <Empty title="No file yet">
        <p>The model, metrics and logs appear here when the job stores them.</p>
      </Empty>
    );
  return (
    <Table
      caption="Files of the job"
      columns={COLUMNS}
      rows={files.data}
      keyOf={({ key }) => key}
    />
  );
}
