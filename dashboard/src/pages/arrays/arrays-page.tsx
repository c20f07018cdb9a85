import type { ArrayListReply } from "@resontech/contracts/http-arrays";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { Ago } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { countsSentence } from "./array-words.ts";

type Row = ArrayListReply["arrays"][number];

const ASKED_EVERY_MS = 15_000;

const COLUMNS: Column<Row>[] = [
  {
    title: "Array",
    narrow: "main",
    of: ({ id, name }) => <Link href={`/arrays/${id}`}>{name}</Link>,
    by: ({ name }) => name,
  },
  { title: "Jobs", of: ({ points }) => points, by: ({ points }) => points, isNumber: true },
  { title: "Stand", narrow: "below", of: ({ counts }) => countsSentence(counts) },
  {
    title: "At once",
    narrow: "below",
    of: ({ atOnce }) => atOnce ?? "all",
    by: ({ atOnce }) => atOnce,
  },
  {
    title: "Submitted",
    narrow: "below",
    of: ({ createdAt }) => <Ago at={createdAt} />,
    by: ({ createdAt }) => createdAt,
  },
  { title: "By", narrow: "below", of: ({ owner }) => owner, by: ({ owner }) => owner },
];

/** One script at many points: which there are, and how they stand. */
export function ArraysPage() {
  const arrays = useQuery({
    queryKey: ["arrays"],
    queryFn: ({ signal }) => ask("GET", "/api/arrays", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  return (
    <>
      <PageHead title="Arrays" above={<Link href="/jobs">Jobs</Link>}>
        One script as many jobs, each at a point of its own.
      </PageHead>
      {arrays.isPending ? <Skeleton rows={4} /> : null}
      {arrays.isError && arrays.data === undefined ? (
        <Failure error={arrays.error} retry={() => void arrays.refetch()} />
      ) : null}
      {arrays.data === undefined ? null : arrays.data.arrays.length === 0 ? (
        <Empty title="No array">
          <p>
            <code>resontech submit fit.py --array 0-99%8</code> makes a hundred jobs of a script,
            and runs eight at once.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Arrays"
          columns={COLUMNS}
          rows={arrays.data.arrays}
          keyOf={({ id }) => id}
        />
      )}
    </>
  );
}
