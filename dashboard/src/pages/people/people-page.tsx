import { GIVEN_ROLES, type PersonReply } from "@resontech/contracts/http-approvals";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Panel, PanelGrid } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { SessionsOf } from "../profile/sessions-of.tsx";
import { ChoosePerson } from "./choose-person.tsx";
import { Acknowledge } from "./acknowledge.tsx";
import { AskForSecondFactor } from "./ask-for-second-factor.tsx";
import { Asked } from "./asked.tsx";
import { Members } from "./members.tsx";
import { OnePerson } from "./one-person.tsx";
import { NewProject } from "./new-project.tsx";

const COLUMNS: Column<PersonReply>[] = [
  { title: "Name", of: ({ username }) => username },
  { title: "Roles on the whole appliance", of: ({ roles }) => roles.join(", ") },
  {
    title: "May sign in",
    of: ({ isDisabled, canSignIn }) =>
      isDisabled ? "disabled" : canSignIn ? "yes" : "no account yet",
  },
  { title: "Since", of: ({ createdAt }) => <At at={createdAt} /> },
];

/** Who may? */
export function PeoplePage() {
  const { projects, roles } = useSession();
  const mayRead = useMay("people.read");
  const mayAcknowledge = useMay("administrator.acknowledge");
  const mayRequest = useMay("role.request");
  const mayFactor = useMay("factor.request");
  const mayEnd = useMay("session.list");
  const isOfficer = mayRead && roles.includes("security-officer");
  const mayCreate = useMay("project.create");
  const mayMembers = useMay("membership.list");
  const people = useQuery({
    queryKey: ["people"],
    queryFn: ({ signal }) => ask("GET", "/api/people", { signal }),
    enabled: mayRead,
    // To list people is a fact of the audit log: nothing asks again by itself.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const led = projects.filter(({ role }) => role === "project-lead");
  return (
    <>
      <PageHead title="People" />
      {mayRead && people.isPending ? <Skeleton /> : null}
      {people.isError ? <Failure error={people.error} retry={() => void people.refetch()} /> : null}
      {people.data === undefined ? null : (
        <Table caption="People" columns={COLUMNS} rows={people.data} keyOf={({ id }) => id} />
      )}
      <PanelGrid>
        {mayAcknowledge && people.data !== undefined ? (
          <Acknowledge people={people.data} again={() => void people.refetch()} />
        ) : null}
        {mayRequest && people.data !== undefined ? <AskForRole people={people.data} /> : null}
        {mayFactor && people.data !== undefined ? (
          <AskForSecondFactor people={people.data} />
        ) : null}
        {mayEnd && people.data !== undefined ? <Sessions people={people.data} /> : null}
        {isOfficer && people.data !== undefined ? (
          <OnePerson people={people.data} again={() => void people.refetch()} />
        ) : null}
        {mayCreate ? <NewProject /> : null}
        {mayMembers ? led.map((project) => <Members key={project.id} project={project} />) : null}
      </PanelGrid>
      {!mayRead && led.length === 0 ? (
        <Empty title="Nothing here for you">
          <p>Leads of a project see its members here, and administrators see everybody.</p>
        </Empty>
      ) : null}
    </>
  );
}

/** Shows the sessions of one person at a time: to look is a fact of the log. */
function Sessions({ people }: { people: readonly PersonReply[] }) {
  const [userId, setUserId] = useState("");
  const person = people.find(({ id }) => id === userId);
  return (
    <Panel title="Where somebody is signed in">
      <ChoosePerson label="Whose sessions" people={people} value={userId} onChange={setUserId} />
      {person === undefined ? null : (
        <SessionsOf key={person.id} userId={person.id} name={person.username} />
      )}
    </Panel>
  );
}

type Draft = {
  userId: string;
  role: (typeof GIVEN_ROLES)[number];
  change: "grant" | "revoke";
  reason: string;
};
const FIRST: Draft = { userId: "", role: "security-officer", change: "grant", reason: "" };

function AskForRole({ people }: { people: readonly PersonReply[] }) {
  const [draft, setDraft] = useKept("rt-role", FIRST);
  const [isDone, setDone] = useState(false);
  const request = useAction(async () => {
    const { userId, role, change, reason } = draft;
    await ask("POST", "/api/approvals", {
      body: { what: { kind: "role", userId, role, change }, ...(reason === "" ? {} : { reason }) },
    });
    setDraft(FIRST);
    setDone(true);
  });
  return (
    <Panel title="Give or take a role">
      <p>A second person answers: a role of the whole appliance is never given by one alone.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setDone(false);
          request.run();
        }}
      >
        <ChoosePerson
          label="Person"
          people={people}
          value={draft.userId}
          onChange={(chosen) => setDraft({ ...draft, userId: chosen })}
          isRequired
        />
        <Field label="Role">
          <select
            value={draft.role}
            onChange={({ target }) => setDraft({ ...draft, role: target.value as Draft["role"] })}
          >
            {GIVEN_ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </Field>
        <Field label="Change">
          <select
            value={draft.change}
            onChange={({ target }) =>
              setDraft({ ...draft, change: target.value as Draft["change"] })
            }
          >
            <option value="grant">give it</option>
            <option value="revoke">take it</option>
          </select>
        </Field>
        <Field label="Reason" hint="Whoever answers reads it.">
          <input
            maxLength={500}
            value={draft.reason}
            onChange={({ target }) => setDraft({ ...draft, reason: target.value })}
          />
        </Field>
        <p>
          <Button look="main" type="submit" isDisabled={request.isBusy}>
            Ask for it
          </Button>
        </p>
      </form>
      <Asked error={request.error} isDone={isDone} />
    </Panel>
  );
}
