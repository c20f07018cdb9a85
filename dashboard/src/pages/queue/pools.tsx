import type { PoolReply } from "@resontech/contracts/http-pools";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { bytes } from "../../ui/bytes.ts";
import { countOf } from "../../ui/count-of.ts";
import { Failure, Warning } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { PoolForm } from "./pool-form.tsx";
import { usePools, useSharedFleet } from "./use-pools.ts";

const KINDS: Record<PoolReply["kind"], string> = {
  shared: "Shared",
  managed: "Managed",
  private: "Private",
};
const COLUMNS: Column<PoolReply>[] = [
  { title: "Pool", narrow: "main", of: ({ name }) => name, by: ({ name }) => name },
  { title: "Kind", narrow: "below", of: ({ kind }) => KINDS[kind], by: ({ kind }) => kind },
  {
    title: "Project",
    of: ({ project }) => project?.name ?? "everybody's",
    by: ({ project }) => project?.name ?? null,
  },
  {
    title: "Workers",
    narrow: "below",
    of: ({ workers }) =>
      workers.length === 0
        ? "none"
        : workers
            .map(({ model, workers: all, free }) => `${free} of ${all} ${model} free`)
            .join(", "),
  },
  { title: "Rules", of: (pool) => rulesOf(pool).join("; ") },
  { title: "Nodes", of: ({ nodes }) => (nodes.length === 0 ? "none" : nodes.join(", ")) },
];

/** Whose nodes are, and by which rules. */
export function Pools() {
  const pools = usePools();
  const maySet = useMay("pool.set");
  if (pools.isPending) return <Skeleton rows={2} />;
  if (pools.isError && pools.data === undefined)
    return <Failure error={pools.error} retry={() => void pools.refetch()} />;
  const refetch = async () => void (await pools.refetch());
  return (
    <Panel title="Pools">
      {pools.data.length === 0 ? (
        <p>
          {maySet ? "There is no pool" : "You see no pool"}: nodes without one are everybody&apos;s.
        </p>
      ) : (
        <PoolTable pools={pools.data} onChanged={refetch} />
      )}
      {maySet ? <NewPool onChanged={refetch} /> : null}
    </Panel>
  );
}

function PoolTable({
  pools,
  onChanged,
}: {
  pools: readonly PoolReply[];
  onChanged: () => Promise<void>;
}) {
  const maySet = useMay("pool.set");
  const [open, setOpen] = useState<string | null>(null);
  const [leaving, setLeaving] = useState<PoolReply | null>(null);
  const remove = useAction(async (id: string) => {
    await ask("DELETE", "/api/pools/{id}", { params: { id } });
    setLeaving(null);
    await onChanged();
  });
  const change: Column<PoolReply> = {
    title: "Change",
    of: (pool) => (
      <>
        <Button
          aria-expanded={open === pool.id}
          aria-label={`Change the pool ${pool.name}`}
          onPress={() => setOpen(open === pool.id ? null : pool.id)}
        >
          Change
        </Button>{" "}
        <Button
          look="danger"
          aria-label={`Remove the pool ${pool.name}`}
          onPress={() => {
            remove.forget();
            setLeaving(pool);
          }}
        >
          Remove
        </Button>
      </>
    ),
  };
  const opened = pools.find(({ id }) => id === open) ?? null;
  return (
    <>
      <Table
        caption="Pools"
        columns={maySet ? [...COLUMNS, change] : COLUMNS}
        rows={pools}
        keyOf={({ id }) => id}
      />
      <PoolWarnings pools={pools} />
      {opened === null ? null : (
        <FormOf
          key={opened.id}
          pool={opened}
          onDone={async () => {
            await onChanged();
            setOpen(null);
          }}
        />
      )}
      <Question
        title={`Remove the pool ${leaving?.name ?? ""}?`}
        act="Remove the pool"
        isOpen={leaving !== null}
        isBusy={remove.isBusy}
        onAct={() => {
          if (leaving !== null) remove.run(leaving.id);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>
          {countOf(leaving?.nodes.length ?? 0, "node")} will be everybody&apos;s. What runs there
          goes on.
        </p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
    </>
  );
}

function NewPool({ onChanged }: { onChanged: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <p>
        <Button aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          New pool
        </Button>
      </p>
      {isOpen ? (
        <FormOf
          pool={null}
          onDone={async () => {
            await onChanged();
            setOpen(false);
          }}
        />
      ) : null}
    </>
  );
}

function FormOf({ pool, onDone }: { pool: PoolReply | null; onDone: () => Promise<void> }) {
  const pools = usePools();
  const { nodes, projects } = useSharedFleet();
  const taken = new Set(
    pools.data?.filter((one) => one.id !== pool?.id).flatMap((one) => one.nodes),
  );
  const free = [...new Set([...(pool?.nodes ?? []), ...nodes])].filter((node) => !taken.has(node));
  return <PoolForm pool={pool} projects={projects} nodes={free.toSorted()} onDone={onDone} />;
}

/** What does not go together: nodes that are others than expected, and guarantees that pools make impossible. */
function PoolWarnings({ pools }: { pools: readonly PoolReply[] }) {
  const unlike = pools.flatMap(({ name, unlike: nodes, workerModels }) =>
    nodes.map(
      ({ node, shows }) =>
        `${name} expects ${workerModels?.join(", ")}; ${node} shows ${shows.length === 0 ? "no worker" : shows.join(", ")}.`,
    ),
  );
  // One guarantee stands with each pool that takes workers from it.
  const unkept = new Set(pools.flatMap(({ warnings }) => warnings.map((one) => `${one}.`)));
  const all = [...unlike, ...unkept];
  if (all.length === 0) return null;
  return (
    <Warning>
      <ul aria-label="What does not go together">
        {all.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Warning>
  );
}

function rulesOf(pool: PoolReply): string[] {
  const { lends, mostRunMinutes, classes, projectWorkers, workerModels, cacheBytes } = pool;
  const kept = pool.kept.map(({ node, bytes: inUse }) => `${node} ${bytes(inUse)}`);
  return [
    ...(lends ? ["lends what is idle"] : []),
    ...(mostRunMinutes === null ? [] : [`time limit of at most ${mostRunMinutes} min`]),
    ...(classes === null ? [] : [`classes ${classes.join(", ")}`]),
    ...(projectWorkers === null
      ? []
      : [`at most ${countOf(projectWorkers, "worker")} of one project`]),
    ...(workerModels === null ? [] : [`expects ${workerModels.join(", ")}`]),
    ...(cacheBytes === null
      ? []
      : [
          `keeps inputs of up to ${bytes(cacheBytes)} a node${kept.length === 0 ? "" : ` (now ${kept.join(", ")})`}`,
        ]),
  ];
}
