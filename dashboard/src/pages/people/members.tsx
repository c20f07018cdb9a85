import { MEMBER_ROLES, type MemberReply } from "@resontech/contracts/http-projects";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { AskForRoom } from "./ask-for-room.tsx";
import { ExportSwitch } from "./export-switch.tsx";
import { HandOver } from "./hand-over.tsx";
import { ModelSwitch } from "./model-switch.tsx";
import { ServiceAccounts } from "./service-accounts.tsx";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { At } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

type Project = { id: string; name: string };

/** One project, for its lead: who is in it, and what is in force. To list members is a fact of the audit log, once for each view. */
export function Members({ project }: { project: Project }) {
  const mayGuard = useMay("exports.guard");
  const mayGuardModels = useMay("models.guard");
  const mayAccounts = useMay("service-account.list");
  const mayQuota = useMay("quota.request");
  return (
    <>
      <Panel title={`Members of ${project.name}`} aside="That you see this list is on record.">
        <MemberList project={project} />
      </Panel>
      {mayGuard || mayGuardModels ? (
        <Panel title={`What is in force in ${project.name}`}>
          {mayGuard ? <ExportSwitch project={project} /> : null}
          {mayGuardModels ? <ModelSwitch project={project} /> : null}
        </Panel>
      ) : null}
      {mayAccounts ? (
        <Panel title={`Programs of ${project.name}`}>
          <ServiceAccounts project={project} />
        </Panel>
      ) : null}
      {mayQuota ? (
        <Panel title={`Room of ${project.name}`}>
          <AskForRoom project={project} />
        </Panel>
      ) : null}
    </>
  );
}

function MemberList({ project }: { project: Project }) {
  const client = useQueryClient();
  const { id } = project;
  const queryKey = ["members", project.id];
  const [leaving, setLeaving] = useState<MemberReply | null>(null);
  const [left, setLeft] = useState<MemberReply | null>(null);
  const [said, setSaid] = useState("");
  const members = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask("GET", "/api/projects/{id}/members", { params: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const again = () => client.invalidateQueries({ queryKey });
  const remove = useAction(async (user: string) => {
    await ask("DELETE", "/api/projects/{id}/members/{user}", { params: { id, user } });
    setLeft(leaving);
    setLeaving(null);
    await again();
  });
  if (members.isPending) return <Skeleton />;
  if (members.isError)
    return <Failure error={members.error} retry={() => void members.refetch()} />;
  return (
    <>
      <Table
        caption={`Members of ${project.name}`}
        rows={members.data}
        keyOf={({ userId }) => userId}
        columns={[
          { title: "Name", narrow: "main", of: ({ username }) => username },
          { title: "Role", narrow: "below", of: ({ role }) => role },
          { title: "Since", of: ({ since }) => <At at={since} /> },
          {
            title: "Take out",
            of: (member) => (
              <Button look="danger" onPress={() => setLeaving(member)}>
                Take {member.username} out
              </Button>
            ),
          },
        ]}
      />
      <Question
        title={`Take ${leaving?.username ?? ""} out of ${project.name}?`}
        act="Take out"
        isOpen={leaving !== null}
        isBusy={remove.isBusy}
        onAct={() => {
          if (leaving !== null) remove.run(leaving.userId);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>Keys and the key pair of the project are refused at once. Jobs and files stay.</p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
      {left === null ? null : (
        <HandOver
          projectId={id}
          leaver={left}
          members={members.data}
          onDone={(done) => {
            setSaid(done);
            setLeft(null);
          }}
        />
      )}
      <p role="status">{said}</p>
      <AddMember projectId={id} onDone={again} />
    </>
  );
}

const FIRST: { username: string; role: MemberReply["role"] } = {
  ...{ username: "", role: "researcher" },
};

function AddMember({ projectId, onDone }: { projectId: string; onDone: () => Promise<void> }) {
  const [draft, setDraft] = useKept(`rt-member-${projectId}`, FIRST);
  const add = useAction(async () => {
    await ask("POST", "/api/projects/{id}/members", { params: { id: projectId }, body: draft });
    setDraft(FIRST);
    await onDone();
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.run();
      }}
    >
      <Field
        label="User name"
        hint="Of somebody who has signed in here before. A member gets another role the same way."
      >
        <input
          required
          maxLength={64}
          autoComplete="off"
          value={draft.username}
          onChange={({ target }) => setDraft({ ...draft, username: target.value })}
        />
      </Field>
      <Field label="Role">
        <select
          value={draft.role}
          onChange={({ target }) =>
            setDraft({ ...draft, role: target.value as MemberReply["role"] })
          }
        >
          {MEMBER_ROLES.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      </Field>
      <p>
        <Button type="submit" isDisabled={add.isBusy}>
          Make a member
        </Button>
      </p>
      {add.error === null ? null : <Failure error={add.error} />}
    </form>
  );
}
