import type { InviteNodeReply, NodeReply } from "@resontech/contracts/http-nodes";
import { whyNoWork } from "@resontech/contracts/node-states";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { useTopic } from "../../live/live.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { bytes } from "../../ui/bytes.ts";
import { Field } from "../../ui/field.tsx";
import { duration } from "../../ui/instants.ts";
import { At } from "../../ui/instant.tsx";
import { DeviceGrid } from "./device-grid.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { nodeWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

const COLUMNS: Column<NodeReply>[] = [
  {
    title: "State",
    narrow: "below",
    of: ({ state }) => <State of={nodeWord(state)} />,
    by: ({ state }) => nodeWord(state).word,
  },
  {
    title: "Node",
    narrow: "main",
    of: ({ node }) => <Link href={`/nodes/${node}`}>{node}</Link>,
    by: ({ node }) => node,
  },
  {
    title: "Workers in use",
    narrow: "below",
    of: ({ busy, workers }) => `${busy} of ${workers}`,
    by: ({ busy }) => busy,
    isNumber: true,
  },
  {
    title: "Free disk",
    of: ({ freeBytes }) => (freeBytes === null ? "" : bytes(freeBytes)),
    by: ({ freeBytes }) => freeBytes,
    isNumber: true,
  },
  {
    title: "Last heard",
    of: ({ silentS }) => (silentS === null ? "never" : `${duration(silentS * 1000)} ago`),
    by: ({ silentS }) => silentS,
    isNumber: true,
  },
  { title: "Why no new work", of: (node) => whyNoWork(node) ?? "", narrow: "below" },
];

/** What is unhealthy or idle? */
export function NodesPage() {
  const client = useQueryClient();
  const mayInvite = useMay("node.invite");
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: ({ signal }) => ask("GET", "/api/nodes", { signal }),
  });
  const again = () => void client.invalidateQueries({ queryKey: ["nodes"] });
  useTopic({ kind: "nodes" }, again, again);
  return (
    <>
      <PageHead title="Nodes" />
      {nodes.isPending ? <Skeleton /> : null}
      {nodes.isError ? <Failure error={nodes.error} retry={() => void nodes.refetch()} /> : null}
      {nodes.data?.length === 0 ? (
        <Empty title="No node yet">
          <p>A node is a host that runs jobs.</p>
          {mayInvite ? (
            <>
              <Button look="main" onPress={() => document.getElementById(FIRST_FIELD)?.focus()}>
                Join the first node
              </Button>
              <p>Name it, make a token, and run the command that comes with the token there.</p>
            </>
          ) : (
            <p>An administrator lets one join.</p>
          )}
        </Empty>
      ) : null}
      {nodes.data === undefined || nodes.data.length === 0 ? null : (
        <>
          <DeviceGrid />
          <Table caption="Nodes" columns={COLUMNS} rows={nodes.data} keyOf={({ node }) => node} />
        </>
      )}
      {mayInvite ? <Invite /> : null}
    </>
  );
}

const FIRST_FIELD = "joining-node";

function Invite() {
  const [node, setNode] = useKept("rt-invite", "");
  const [made, setMade] = useState<InviteNodeReply | null>(null);
  const invite = useAction(async () => {
    setMade(await ask("POST", "/api/nodes/invitations", { body: { node, ttlS: 3_600 } }));
  });
  return (
    <Panel title="Join a node">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.run();
        }}
      >
        <Field
          label="Name of the node"
          hint="Letters, digits and - ; the token is good for one hour and one node."
        >
          <input
            id={FIRST_FIELD}
            required
            maxLength={64}
            value={node}
            onChange={({ target }) => setNode(target.value)}
          />
        </Field>
        <p>
          <Button look="main" type="submit" isDisabled={invite.isBusy}>
            Make a token
          </Button>
        </p>
      </form>
      {invite.error === null ? null : <Failure error={invite.error} />}
      {made === null ? null : (
        <div role="status">
          <p>
            The token of {made.node}, shown this once, good until <At at={made.expiresAt} />:
          </p>
          <pre tabIndex={0} id="join-token">
            {made.token}
          </pre>
          <Copy text={made.token} from="join-token" label="Copy the token" />
          {made.command === null ? (
            <p>
              No other host reaches this appliance by its name, so no host can join. Install it with
              <code> --name</code> and <code>--address</code> of the network.
            </p>
          ) : (
            <>
              <p>Run this on the new host as root. The command asks for the token:</p>
              <pre tabIndex={0} id="join-command">
                {made.command}
              </pre>
              <Copy text={made.command} from="join-command" label="Copy the command" />
            </>
          )}
        </div>
      )}
    </Panel>
  );
}
