import { type ApprovalReply, SIGNED_KINDS } from "@resontech/contracts/http-approvals";
import { summaryWords } from "@resontech/contracts/size-words";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { useTopic } from "../../live/live.ts";
import { PageHead } from "../../ui/page-head.tsx";
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
import { Changes } from "./changes.tsx";
import { AskForPolicies } from "./ask-for-policies.tsx";
import { AskAndSign } from "./ask-and-sign.tsx";
import { goOn, isSelfAnswered, sign, takeBegun, type Then } from "./sign.ts";
import styles from "./approvals.module.css";

const WORDS: Record<ApprovalReply["state"], StateWord> = {
  requested: { word: "waits", tone: "wait", shape: "ring" },
  approved: { word: "approved", tone: "good", shape: "tick" },
  denied: { word: "denied", tone: "bad", shape: "cross" },
  withdrawn: { word: "withdrawn", tone: "quiet", shape: "dash" },
  expired: { word: "expired", tone: "quiet", shape: "dash" },
};
const COLUMNS: Column<ApprovalReply>[] = [
  { title: "State", narrow: "below", of: ({ state }) => <State of={WORDS[state]} /> },
  { title: "What", narrow: "main", of: ({ summary }) => summaryWords(summary) },
  { title: "Asked by", narrow: "below", of: ({ requester }) => requester.username },
  {
    title: "Answered by",
    of: ({ decider, singlePerson }) =>
      singlePerson ? "nobody: there was one person" : (decider?.username ?? ""),
  },
  { title: "Reason", of: ({ reason }) => reason ?? "" },
  { title: "Asked", of: ({ createdAt }) => <Ago at={createdAt} /> },
];

/** What waits for me? */
export function ApprovalsPage() {
  const client = useQueryClient();
  const { user } = useSession();
  const mayPropose = useMay("policy.propose");
  const again = () => client.invalidateQueries({ queryKey: ["approvals"] });
  const approvals = useQuery({
    queryKey: ["approvals"],
    queryFn: ({ signal }) => ask("GET", "/api/approvals", { signal }),
  });
  useTopic(
    { kind: "approvals" },
    () => void again(),
    () => void again(),
  );
  const [done, setDone] = useState("");
  const begun = useAction(async (then: Then) => {
    setDone(await goOn(then));
    await again();
  });
  const isBack = useRef(false);
  useEffect(() => {
    if (isBack.current) return;
    isBack.current = true;
    const then = takeBegun();
    if (then !== null) begun.run(then);
  });
  if (approvals.isPending) return <Skeleton />;
  if (approvals.isError)
    return <Failure error={approvals.error} retry={() => void approvals.refetch()} />;
  // Others' requests come first: those are the ones to answer.
  const open = approvals.data
    .filter(({ state }) => state === "requested")
    .toSorted((a, b) => Number(a.requester.id === user.id) - Number(b.requester.id === user.id));
  const over = approvals.data.filter(({ state }) => state !== "requested");
  return (
    <>
      <PageHead title="Approvals">
        These need two people; a legal hold needs one. Whoever asks and whoever approves shows a
        second factor. Read what is asked before you show yours.
      </PageHead>
      <p id="done" role="status">
        {done}
      </p>
      {begun.error === null ? null : <Failure error={begun.error} />}
      {open.length === 0 ? (
        <Empty title="Nothing waits">
          <p>What needs a second person stands here until somebody answers.</p>
        </Empty>
      ) : (
        <div id="requests" className={styles["requests"]}>
          {open.map((one) => (
            <Request key={one.id} request={one} onDone={again} />
          ))}
        </div>
      )}
      {over.length === 0 ? null : (
        <Table caption="Answered requests" columns={COLUMNS} rows={over} keyOf={({ id }) => id} />
      )}
      <AskAndSign />
      {mayPropose ? <AskForPolicies onDone={again} /> : null}
    </>
  );
}

function Request({ request, onDone }: { request: ApprovalReply; onDone: () => Promise<void> }) {
  const { user } = useSession();
  const isOwn = request.requester.id === user.id;
  const [verb, setVerb] = useState<"approve" | "deny" | "withdraw" | null>(null);
  const [reason, setReason] = useKept(`rt-answer-${request.id}`, "");
  const answersOwn = request.singlePerson || isSelfAnswered(request.what.kind);
  const isSigned = SIGNED_KINDS.some((kind) => kind === request.what.kind);
  const signing = useAction(async (how: "request" | "approve") => {
    const isAlone = how === "approve" || answersOwn;
    await sign(request.id, how, isAlone ? { approve: request.id } : { signed: request.id });
  });
  const { kind, ...what } = request.what;
  const answer = useAction(async (how: "approve" | "deny" | "withdraw") => {
    const params = { id: request.id };
    if (how === "withdraw") await ask("POST", "/api/approvals/{id}/withdraw", { params });
    else {
      const body = reason === "" ? {} : { reason };
      await ask("POST", `/api/approvals/{id}/${how}`, { params, body });
    }
    setVerb(null);
    await onDone();
  });
  return (
    <Panel title={summaryWords(request.summary)}>
      <Facts
        facts={[
          ["Asked by", request.requester.username],
          ["Reason", request.reason ?? "none was given"],
          ["Asked", <Ago key="asked" at={request.createdAt} />],
          ["Ends by itself", <At key="ends" at={request.expiresAt} />],
        ]}
      />
      <Changes changes={request.changes} />
      <details open>
        <summary>Exactly what is asked</summary>
        <pre className={styles["what"]} tabIndex={0}>
          {kind === "audit-policy" && "policy" in what
            ? what.policy
            : JSON.stringify(what, null, 2)}
        </pre>
      </details>
      <Row>
        {isOwn ? (
          <>
            {request.isSigned === false ? (
              <Button look="main" onPress={() => signing.run("request")}>
                Sign the request
              </Button>
            ) : answersOwn ? (
              <Button look="main" onPress={() => setVerb("approve")}>
                Approve
              </Button>
            ) : null}
            <Button onPress={() => setVerb("withdraw")}>Withdraw</Button>
          </>
        ) : (
          <>
            {request.isSigned === false || isSelfAnswered(kind) ? null : isSigned ? (
              <Button look="main" onPress={() => signing.run("approve")}>
                Sign and approve
              </Button>
            ) : (
              <Button look="main" onPress={() => setVerb("approve")}>
                Approve
              </Button>
            )}
            {isSelfAnswered(kind) ? null : (
              <Button look="danger" onPress={() => setVerb("deny")}>
                Deny
              </Button>
            )}
          </>
        )}
      </Row>
      {signing.error === null ? null : <Failure error={signing.error} />}
      {request.isSigned === false ? (
        <p>Whoever asked has not signed yet: nobody can approve.</p>
      ) : null}
      {isOwn ? (
        <p>
          {answersOwn
            ? "Your own signature is enough."
            : "Somebody else answers your own requests."}
        </p>
      ) : null}
      <Question
        title={`${verb === "approve" ? "Approve" : verb === "deny" ? "Deny" : "Withdraw"}: ${summaryWords(request.summary)}?`}
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
