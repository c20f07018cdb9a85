import type { TaskOutputsReply } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";

import { useAction } from "../../ui/use-action.ts";
import { RemoveOutputs } from "./remove-outputs.tsx";
import { RequestExport } from "./request-export.tsx";
import { download } from "../storage/download.ts";

type Output = TaskOutputsReply[number];

const columns = (fetchIt: (key: string) => void): Column<Output>[] => [
  { title: "File", of: ({ key }) => <code>{key}</code> },
  { title: "Size", of: ({ sizeBytes }) => bytes(sizeBytes), isNumber: true },
  { title: "Stored", of: ({ storedAt }) => <At at={storedAt} /> },
  {
    title: "Download",
    of: ({ key }) => (
      <Button aria-label={`Download ${key}`} onPress={() => fetchIt(key)}>
        Download
      </Button>
    ),
  },
  { title: "SHA-256", of: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code> },
];

/** What the job left. */
export function Files({
  jobId,
  project,
  isOver,
}: {
  jobId: string;
  project: string | undefined;
  isOver: boolean;
}) {
  const files = useQuery({
    queryKey: ["job", jobId, "files"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/tasks/{id}/outputs", { params: { id: jobId }, signal }),
  });
  const fetchIt = useAction(async (key: string) => await download(key, project));
  if (files.isPending) return <Skeleton />;
  if (files.isError) return <Failure error={files.error} retry={() => void files.refetch()} />;
  if (files.data.length === 0)
    return (
      <Empty title={isOver ? "No file" : "No file yet"}>
        <p>
          {isOver
            ? "The job stored none, or somebody removed them."
            : "The model, metrics and logs appear here when the job stores them."}
        </p>
      </Empty>
    );
  return (
    <>
      {fetchIt.error === null ? null : <Failure error={fetchIt.error} />}
      <Table
        caption="Files of the job"
        columns={columns(fetchIt.run)}
        rows={files.data}
        keyOf={({ key }) => key}
      />
      <RequestExport jobId={jobId} outputs={files.data} />
      {isOver ? <RemoveOutputs jobId={jobId} count={files.data.length} /> : null}
    </>
  );
}
