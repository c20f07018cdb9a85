import { summaryWords } from "@resontech/contracts/size-words";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { useTopic } from "../../live/live.ts";
import { Ago } from "../../ui/instant.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Table } from "../../ui/table.tsx";

/** Requests of others that wait for an answer. */
export function useToApprove(isAsked: boolean) {
  const { user } = useSession();
  const client = useQueryClient();
  const queryKey = ["approvals"];
  const again = () => void client.invalidateQueries({ queryKey });
  useTopic({ kind: "approvals" }, again, again);
  const approvals = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/approvals", { signal }),
    enabled: isAsked,
  });
  return approvals.data?.filter(
    ({ state, requester }) => state === "requested" && requester.id !== user.id,
  );
}

/** Stands only where something waits for the person. */
export function ToApprove() {
  const waiting = useToApprove(true);
  if (waiting === undefined || waiting.length === 0) return null;
  return (
    <Panel title="Waits for your answer" aside={<Link href="/approvals">All requests</Link>}>
      <Table
        caption="Requests that wait for an answer"
        rows={waiting}
        keyOf={({ id }) => id}
        columns={[
          {
            title: "What",
            narrow: "main",
            of: ({ summary }) => <Link href="/approvals">{summaryWords(summary)}</Link>,
          },
          { title: "Asked by", narrow: "below", of: ({ requester }) => requester.username },
          {
            title: "Asked",
            narrow: "below",
            of: ({ createdAt }) => <Ago at={createdAt} />,
            isNumber: true,
          },
        ]}
      />
    </Panel>
  );
}
