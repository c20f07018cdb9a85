import type { NodeDetailReply } from "@resontech/contracts/http-nodes";
import { whyNoWork } from "@resontech/contracts/node-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { useTopic } from "../../live/live.ts";
import { countOf } from "../../ui/count-of.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { bytes } from "../../ui/bytes.ts";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { memberWord, nodeWord } from "../../ui/state-word.ts";
import { NodesUse } from "./nodes-use.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";

/** No news comes of what devices do, as of states. */
const ASKED_EVERY_MS = 15_000;

type Worker = NodeDetailReply["workers"][number];
type Member = NodeDetailReply["members"][number];

/** Empty where the device's tool does not say. */
const told = (value: number | undefined, words: (value: number) => string) =>
  value === undefined ? "" : words(value);

const WORKERS: Column<Worker>[] = [
  { title: "Worker", narrow: "main", of: ({ worker }) => <code>{worker}</code> },
  { title: "Model", narrow: "below", of: ({ model }) => model },
  {
    title: "Busy",
    narrow: "below",
    of: ({ use }) => told(use?.utilizationPercent, (busy) => `${Math.round(busy)}%`),
    isNumber: true,
  },
  {
    title: "Memory in use",
    narrow: "below",
    of: ({ use, memoryBytes }) =>
      use === null ? bytes(memoryBytes) : `${bytes(use.memoryInUseBytes)} of ${bytes(memoryBytes)}`,
    isNumber: true,
  },
  {
    title: "Temperature",
    of: ({ use }) => told(use?.temperatureC, (heat) => `${Math.round(heat)} °C`),
    isNumber: true,
  },
  {
    title: "Power",
    of: ({ use }) => told(use?.powerWatts, (watts) => `${Math.round(watts)} W`),
    isNumber: true,
  },
  { title: "Driver", of: ({ driver }) => driver ?? "" },
  { title: "Address", of: ({ pciAddress }) => pciAddress ?? "" },
  { title: "Why no work", of: ({ unfit }) => unfit ?? "" },
];
const MEMBERS: Column<Member>[] = [
  { title: "Job", narrow: "main", of: ({ job }) => <code>{job}</code> },
  { title: "Member", narrow: "below", of: ({ site, role }) => site ?? role },
  { title: "State", of: ({ state }) => <State of={memberWord(state)} /> },
  { title: "Workers", of: ({ workers }) => workers.join(", ") },
];

export function NodePage({ id }: { id: string }) {
  const client = useQueryClient();
  const queryKey = ["node", id];
  const found = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/nodes/{id}", { params: { id }, signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  const again = () => void client.invalidateQueries({ queryKey });
  useTopic(
    { kind: "nodes" },
    (news) => {
      if (news.some(({ change }) => "node" in change && change.node === id)) again();
    },
    again,
  );
  if (found.isPending) return <Skeleton />;
  if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
  const { node, workers, members } = found.data;
  return (
    <>
      <PageHead
        title={node.node}
        state={nodeWord(node.state)}
        above={<Link href="/nodes">Nodes</Link>}
        actions={
          <Placement
            id={id}
            isDrained={node.drained !== null}
            members={members.length}
            onDone={again}
          />
        }
      />
      <Panel title="Node">
        <Facts
          facts={[
            ["Workers", `${node.busy} of ${node.workers} in use`],
            ["New work", whyNoWork(node) ?? "placed here"],
            ["Free disk", node.freeBytes === null ? "not told" : bytes(node.freeBytes)],
          ]}
        />
      </Panel>
      <NodesUse node={id} />
      <Table caption="Workers" columns={WORKERS} rows={workers} keyOf={({ worker }) => worker} />
      {members.length === 0 ? (
        <p>No member of a job is on this node.</p>
      ) : (
        <Table
          caption="Members of jobs"
          columns={MEMBERS}
          rows={members}
          keyOf={({ job, role, site }) => `${job} ${site ?? role}`}
        />
      )}
    </>
  );
}

function Placement({
  id,
  isDrained,
  members,
  onDone,
}: {
  id: string;
  isDrained: boolean;
  members: number;
  onDone: () => void;
}) {
  const [isAsked, setAsked] = useState(false);
  const verb = isDrained ? "undrain" : "drain";
  const may = useMay(`node.${verb}`);
  const change = useAction(async () => {
    await ask("POST", `/api/nodes/{id}/${verb}`, { params: { id } });
    setAsked(false);
    onDone();
  });
  if (!may) return null;
  return (
    <>
      <Button
        onPress={() => (isDrained ? change.run() : setAsked(true))}
        isDisabled={change.isBusy}
      >
        {isDrained ? "Give it back to placement" : "Drain"}
      </Button>
      <Question
        title={`Drain ${id}?`}
        act="Drain"
        look="main"
        isOpen={isAsked}
        isBusy={change.isBusy}
        onAct={() => change.run()}
        onClose={() => setAsked(false)}
      >
        <p>
          Nothing new is placed there.{" "}
          {members === 0
            ? "Nothing runs there now."
            : `What runs there runs to its end: ${countOf(members, "member")} of jobs.`}
        </p>
        {change.error === null ? null : <Failure error={change.error} />}
      </Question>
      {isAsked || change.error === null ? null : <Failure error={change.error} />}
    </>
  );
}
