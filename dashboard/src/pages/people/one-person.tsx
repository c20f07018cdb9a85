import type { PersonReply } from "@resontech/contracts/http-approvals";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { PersonalDataLink } from "../profile/personal-data-link.tsx";
import { ChoosePerson } from "./choose-person.tsx";

type Project = PersonReply["projects"][number];

/** Lets a security officer end what a lead gave somebody by mistake, and answer a person's own request. */
export function OnePerson({
  people,
  again,
}: {
  people: readonly PersonReply[];
  again: () => void;
}) {
  const [userId, setUserId] = useState("");
  const person = people.find(({ id }) => id === userId);
  return (
    <Panel title="One person">
      <ChoosePerson
        label="Whose projects and data"
        people={people}
        value={userId}
        onChange={setUserId}
      />
      {person === undefined ? null : (
        <>
          <Memberships key={person.id} person={person} again={again} />
          <p>
            <PersonalDataLink userId={person.id}>
              Download what is held about {person.username}
            </PersonalDataLink>
          </p>
        </>
      )}
    </Panel>
  );
}

function Memberships({ person, again }: { person: PersonReply; again: () => void }) {
  const [leaving, setLeaving] = useState<Project | null>(null);
  const [said, setSaid] = useState("");
  const end = useAction(async ({ projectId, name }: Project) => {
    const params = { id: projectId, user: person.id };
    await ask("DELETE", "/api/projects/{id}/members/{user}", { params });
    setLeaving(null);
    setSaid(`${person.username} is out of ${name}.`);
    again();
  });
  return (
    <>
      {person.projects.length === 0 ? (
        <p>
          {person.username} is in no project of a team by a lead's word. What a directory's group
          gives ends in the directory.
        </p>
      ) : (
        <Table
          caption={`Projects of ${person.username}`}
          rows={person.projects}
          keyOf={({ projectId }) => projectId}
          columns={[
            { title: "Project", narrow: "main", of: ({ name }) => name },
            { title: "Role", narrow: "below", of: ({ role }) => role },
            {
              title: "Take out",
              of: (project) => (
                <Button look="danger" onPress={() => setLeaving(project)}>
                  Take {person.username} out of {project.name}
                </Button>
              ),
            },
          ]}
        />
      )}
      <Question
        title={`Take ${person.username} out of ${leaving?.name ?? ""}?`}
        act="Take out"
        isOpen={leaving !== null}
        isBusy={end.isBusy}
        onAct={() => {
          if (leaving !== null) end.run(leaving);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>Keys and the key pair of the project are refused at once. Jobs and files stay.</p>
        {end.error === null ? null : <Failure error={end.error} />}
      </Question>
      <p role="status">{said}</p>
    </>
  );
}
