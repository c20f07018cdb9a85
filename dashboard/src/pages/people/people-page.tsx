import { GIVEN_ROLES, type PersonReply } from "@resontech/contracts/http-approvals";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
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
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";
import { Views, type ViewEntry } from "../../ui/views.tsx";
import { AccessReview } from "./access-review.tsx";
import { Members } from "./members.tsx";
import { OnePerson } from "./one-person.tsx";
import { NewProject } from "./new-project.tsx";
import { useProjects } from "./use-project.ts";

const COLUMNS: Column<PersonReply>[] = [
  {
    title: "Name",
    of: ({ username }) => username,
    by: ({ username }) => username,
    narrow: "main",
  },
  {
    title: "Roles on the whole appliance",
    narrow: "below",
    of: ({ roles }) => roles.join(", "),
    by: ({ roles }) => roles.join() || null,
  },
  {
    title: "May sign in",
    of: ({ isDisabled, canSignIn }) =>
      isDisabled ? "disabled" : canSignIn ? "yes" : "no account yet",
  },
  {
    title: "Since",
    of: ({ createdAt }) => <At at={createdAt} />,
    by: ({ createdAt }) => createdAt,
  },
];

/** Who may? */
export function PeoplePage() {
  const { projects } = useSession();
  const mayRead = useMay("people.read");
  const mayCreate = useMay("project.create");
  const mayMembers = useMay("membership.list");
  const [search, setSearch] = useSearchParams();
  const led = useLed(projects.filter(({ role }) => role === "project-lead"));
  if (led === null)
    return (
      <>
        <PageHead title="People" />
        <Skeleton />
      </>
    );
  const views: ViewEntry[] = [
    ...(mayRead
      ? [
          ["people", "People", <Everybody key="people" />] as const,
          ["review", "Access review", <AccessReview key="review" />] as const,
        ]
      : []),
    ...(mayMembers
      ? led.map(
          (project): ViewEntry => [
            project.id,
            project.isOwn ? "Own project" : project.name,
            <PanelGrid key={project.id}>
              <Members project={project} />
            </PanelGrid>,
          ],
        )
      : []),
  ];
  const wanted = search.get("view");
  const selected = views.find(([key]) => key === wanted)?.[0] ?? views[0]?.[0];
  return (
    <>
      <PageHead title="People" />
      {views.length > 1 && selected !== undefined ? (
        <Views
          label="People and projects"
          views={views}
          selected={selected}
          onSelect={(view) => setSearch({ view })}
        />
      ) : (
        views[0]?.[2]
      )}
      {mayCreate && !mayRead ? <NewProject /> : null}
      {views.length === 0 ? (
        <Empty title="Nothing here for you">
          <p>Leads of a project see its members here, and administrators see everybody.</p>
        </Empty>
      ) : null}
    </>
  );
}

type Led = { id: string; name: string };

/**
 * Projects of teams first: who leads one comes for it, and everybody leads an own one.
 * @returns null until it is known which is which: to show the members of the wrong one would be on record
 */
function useLed(led: readonly Led[]): readonly (Led & { isOwn: boolean })[] | null {
  const { data, isError } = useProjects();
  if (isError || led.length === 0) return led.map((one) => ({ ...one, isOwn: false }));
  if (data === undefined) return null;
  const own = new Set(data.filter(({ isDefault }) => isDefault).map(({ id }) => id));
  return led
    .map((one) => ({ ...one, isOwn: own.has(one.id) }))
    .sort((a, b) => Number(a.isOwn) - Number(b.isOwn));
}

/** All who have a user here, and what is asked for about one of them. */
function Everybody() {
  const { roles } = useSession();
  const mayAcknowledge = useMay("administrator.acknowledge");
  const mayRequest = useMay("role.request");
  const mayFactor = useMay("factor.request");
  const mayEnd = useMay("session.list");
  const mayCreate = useMay("project.create");
  const isOfficer = roles.includes("security-officer");
  const people = useQuery({
    queryKey: ["people"],
    queryFn: ({ signal }) => ask("GET", "/api/people", { signal }),
    // To list people is a fact of the audit log: nothing asks again by itself.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (people.isPending) return <Skeleton />;
  if (people.isError) return <Failure error={people.error} retry={() => void people.refetch()} />;
  const again = () => void people.refetch();
  return (
    <>
      <Table caption="People" columns={COLUMNS} rows={people.data} keyOf={({ id }) => id} />
      <PanelGrid>
        {mayAcknowledge ? <Acknowledge people={people.data} again={again} /> : null}
        {mayRequest ? <AskForRole people={people.data} /> : null}
        {mayFactor ? <AskForSecondFactor people={people.data} /> : null}
        {mayEnd ? <Sessions people={people.data} /> : null}
        {isOfficer ? <OnePerson people={people.data} again={again} /> : null}
        {mayCreate ? <NewProject /> : null}
      </PanelGrid>
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
      body: { what: { kind: "role", userId, role, change }, ...withReason(reason) },
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
        <AskedReason value={draft.reason} onChange={(reason) => setDraft({ ...draft, reason })} />
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
