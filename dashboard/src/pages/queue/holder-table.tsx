import { amountWords } from "@resontech/contracts/amount-words";
import type { WorkerHolderReply } from "@resontech/contracts/http-queue";
import { Ago, At } from "../../ui/instant.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const COLUMNS: Column<WorkerHolderReply>[] = [
  {
    title: "Project",
    narrow: "main",
    of: ({ project }) => project?.name ?? "Another project",
    by: ({ project }) => project?.name ?? null,
  },
  {
    title: "Class",
    narrow: "below",
    of: ({ jobClass }) => jobClass ?? "",
    by: ({ jobClass }) => jobClass,
  },
  { title: "Workers", of: ({ workers }) => amountWords(workers) ?? "" },
  { title: "Since", of: ({ since }) => <Ago at={since} />, by: ({ since }) => since },
  {
    title: "Ends by itself",
    narrow: "below",
    of: ({ endsBy, isLeaving }) =>
      isLeaving ? (
        "Lets go now"
      ) : endsBy === null ? (
        "States no end"
      ) : (
        <>
          <At at={endsBy} /> at the latest
        </>
      ),
    by: ({ endsBy }) => endsBy,
  },
];

/** What holds workers: whose it is, of which class, since when, and until when. */
export function HolderTable({ holders }: { holders: readonly WorkerHolderReply[] }) {
  return (
    <Table
      caption="Who holds workers"
      columns={COLUMNS}
      rows={holders.map((holder, at) => ({ ...holder, at }))}
      keyOf={({ at }) => String(at)}
    />
  );
}
