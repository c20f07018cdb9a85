import type { ApprovalReply } from "@resontech/contracts/http-approvals";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Facts, Panel, Row } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import type { StateWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

const ASKED_EVERY_MS = 15_000;
const WORDS: Record<ApprovalReply["state"], StateWord> = {
  requested: { word: "waits", tone: "wait", shape: "ring" },
  approved: { word: "approved", tone: "good", shape: "tick" },
  denied: { word: "denied", tone: "bad", shape: "cross" },
  withdrawn: { word: "withdrawn", tone: "quiet", shape: "dash" },
  expired: { word: "expired", tone: "quiet", shape: "dash" },
};
const COLUMNS: Column<ApprovalReply>[] = [
  { title: "State", of: ({ state }) => <State of={WORDS[state]} /> },
  { title: "What", of: ({ summary }) => summary },
  { title: "Asked by", of: ({ requester }) => requester.username },
  {
    title: "Answered by",
    of: ({ decider, singlePerson }) =>
      singlePerson ? "nobody: there was one person" : (decider?.username ?? ""),
  },
  { title: "Asked", of: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** What waits for me? */
export function ApprovalsPage() {
  const client = useQueryClient();
  const approvals = useQuery({
    queryKey: ["approvals"],
    queryFn: ({ signal }) => ask<ApprovalReply[]>("GET", "/api/approvals", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (approvals.isPending) return <Skeleton />;
  if (approvals.isError)
    return <Failure error={approvals.error} retry={() => void approvals.refetch()} />;
  const open = approvals.data.filter(({ state }) => state === "requested");
  const over = approvals.data.filter(({ state }) => state !== "requested");
  const again = () => client.invalidateQueries({ queryKey: ["approvals"] });
  return (
    <>
      <h1>Approvals</h1>
      {open.length === 0 ? (
        <Empty title="Nothing waits">
          <p>What needs a second person stands here until somebody answers.</p>
        </Empty>
      ) : (
        open.map((one) => <Request key={one.id} request={one} onDone={again} />)
      )}
      {over.length === 0 ? null : (
        <Table caption="Answered requests" columns={COLUMNS} rows={over} keyOf={({ id }) => id} />
      )}
    </>
  );
}

function Request({ request, onDone }: { request: ApprovalReply; onDone: () => Promise<void> }) {
  const { user } = useSession();
  const isOwn = request.requester.id === user.id;
  const [verb, setVerb] = useState<"approve" | "deny" | "withdraw" | null>(null);
  const [reason, setReason] = useKept(`rt-answer-${request.id}`, "");
  const answer = useAction(async (how: "approve" | "deny" | "withdraw") => {
    const body = how === "withdraw" || reason === "" ? {} : { reason };
    await ask("POST", `/api/approvals/${request.id}/${how}`, how === "withdraw" ? {} : { body });
    setVerb(null);
    await onDone();
  });
  return (
    <Panel title={request.summary}>
      <Facts
        facts={[
          ["Asked by", request.requester.username],
          ["Reason", request.reason ?? "none was given"],
          ["Asked", <Ago key="asked" at={request.createdAt} />],
          ["Ends by itself", <At key="ends" at={request.expiresAt} />],
        ]}
      />
      <Row>
        {isOwn ? (
          <Button onPress={() => setVerb("withdraw")}>Withdraw</Button>
        ) : (
          <>
            <Button look="main" onPress={() => setVerb("approve")}>
              Approve
            </Button>
            <Button look="danger" onPress={() => setVerb("deny")}>
              Deny
            </Button>
          </>
        )}
      </Row>
      {isOwn ? <p>Somebody else answers your own requests.</p> : null}
      <Question
        title={`${verb === "approve" ? "Approve" : verb === "deny" ? "Deny" : "Withdraw"}: ${request.summary}?`}
        act={verb === "approve" ? "Approve" : verb === "deny" ? "Deny" : "Withdraw"}
        look={verb === "approve" ? "main" : "danger"}
        isOpen={verb !== null}
        isBusy={answer.isBusy}
        onAct={() => {
          if (verb !== null) answer.run(verb);
        }}
        onClose={() => {
          answer.forget();
          setVerb(null);
        }}
      >
        {verb === "withdraw" ? null : (
          <Field label="Reason" hint="The audit log does not hold it; the requester reads it.">
            <input
              maxLength={500}
              value={reason}
              onChange={({ target }) => setReason(target.value)}
            />
          </Field>
        )}
        {answer.error === null ? null : <Failure error={answer.error} />}
      </Question>
    </Panel>
  );
}
