import type { JobInputsReply } from "@resontech/contracts/http-jobs";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const COLUMNS: Column<JobInputsReply[number]>[] = [
  { title: "Kind", narrow: "below", of: ({ kind }) => kind },
  { title: "Object", narrow: "main", of: ({ key }) => <code>{key}</code> },
  { title: "Version", of: ({ versionId }) => <code>{versionId}</code> },
  { title: "Site", of: ({ shard }) => (shard === null ? "all" : shard + 1), isNumber: true },
  { title: "Size", narrow: "below", of: ({ sizeBytes }) => bytes(sizeBytes), isNumber: true },
];

/** What the job was made of: versions, so that a later upload changes nothing here. */
export function Inputs({ jobId }: { jobId: string }) {
  const inputs = useQuery({
    queryKey: ["job", jobId, "inputs"],
    queryFn: ({ signal }) => ask("GET", "/api/jobs/{id}/inputs", { params: { id: jobId }, signal }),
  });
  if (inputs.isPending) return <Skeleton />;
  if (inputs.isError) return <Failure error={inputs.error} retry={() => void inputs.refetch()} />;
  return (
    <Table
      caption="Inputs of the job"
      columns={COLUMNS}
      rows={inputs.data}
      keyOf={({ kind, key }) => `${kind} ${key}`}
    />
  );
}
