import type { AccessOfPerson, AccessOfProgram } from "@resontech/contracts/http-access";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { Field } from "../../ui/field.tsx";
import { Ago, At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import { saveBytes } from "../../ui/save-bytes.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { accessCsv, markWords, secondFactorWords, standingWords } from "./access-words.ts";
import styles from "./people.module.css";

const PEOPLE: Column<AccessOfPerson>[] = [
  {
    title: "Name",
    narrow: "main",
    by: ({ username }) => username,
    of: (person) => (
      <>
        {person.username}
        {standingWords(person) === "active" ? null : (
          <div className={styles["quiet"]}>{standingWords(person)}</div>
        )}
      </>
    ),
  },
  {
    title: "Roles",
    narrow: "below",
    by: ({ roles }) => roles.join() || null,
    of: ({ roles }) => (roles.length === 0 ? null : <Lines lines={roles} />),
  },
  {
    title: "Projects",
    narrow: "below",
    by: ({ projects }) => projects.length,
    of: ({ projects }) => (
      <Lines
        lines={projects.map(({ name, role, by }) =>
          by === "own"
            ? "the own project"
            : `${name}: ${role}${by === "group" ? ", by a group" : ""}`,
        )}
      />
    ),
  },
  {
    title: "Keys",
    by: ({ keys }) => keys.length,
    of: ({ keys, projects }) =>
      keys.map(({ id, last4, projectId, project, scopes, lastUsedAt }) => (
        <div key={id}>
          <code>…{last4}</code>{" "}
          {projects.some((one) => one.by === "own" && one.id === projectId)
            ? "the own project"
            : project}
          : {scopes.join(", ")};{" "}
          {lastUsedAt === null ? (
            "never used"
          ) : (
            <>
              used <Ago at={lastUsedAt} />
            </>
          )}
        </div>
      )),
  },
  {
    title: "Last sign-in",
    by: ({ lastSignInAt }) => lastSignInAt,
    of: ({ lastSignInAt }) => (lastSignInAt === null ? "never" : <Ago at={lastSignInAt} />),
  },
  { title: "Second factor", of: secondFactorWords },
  {
    title: "To look at",
    by: ({ marks }) => -marks.length,
    of: ({ marks }) =>
      marks.map((mark) => (
        <div key={mark}>
          <State of={{ word: markWords(mark), tone: "wait", shape: "ring" }} />
        </div>
      )),
  },
];

const PROGRAMS: Column<AccessOfProgram>[] = [
  { title: "Name", narrow: "main", of: ({ name }) => name, by: ({ name }) => name },
  { title: "Project", narrow: "below", of: ({ project }) => project, by: ({ project }) => project },
  { title: "May", narrow: "below", of: ({ scopes }) => scopes.join(", ") },
  {
    title: "Answered for by",
    of: ({ answeredBy, isOrphan }) =>
      isOrphan ? <State of={{ word: "nobody", tone: "wait", shape: "ring" }} /> : answeredBy,
  },
  { title: "Good until", of: ({ expiresAt }) => <At at={expiresAt} /> },
  {
    title: "Last used",
    of: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />),
  },
];

/** Who may do what now. To list it is a fact of the audit log, once for each view. */
export function AccessReview() {
  const [chosen, setChosen] = useState<"all" | "marked" | "roles">("all");
  const [project, setProject] = useState("");
  const review = useQuery({
    queryKey: ["access-review"],
    queryFn: ({ signal }) => ask("GET", "/api/reviews/access", { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (review.isPending) return <Skeleton />;
  if (review.isError) return <Failure error={review.error} retry={() => void review.refetch()} />;
  const { at, people, programs } = review.data;
  const projects = [
    ...new Map(
      people
        .flatMap((person) => person.projects)
        .filter(({ by }) => by !== "own")
        .map(({ id, name }) => [id, name]),
    ),
  ];
  const shown = people.filter(
    (person) =>
      (chosen === "all" || (chosen === "marked" ? person.marks : person.roles).length > 0) &&
      (project === "" ||
        person.projects.some(({ id }) => id === project) ||
        person.keys.some(({ projectId }) => projectId === project)),
  );
  const marked = people.filter(({ marks }) => marks.length > 0).length;
  return (
    <>
      <p>
        {countOf(people.length, "person", "people")} and {countOf(programs.length, "program")},{" "}
        <At at={at} />.{" "}
        {marked === 0
          ? "Nothing stands out."
          : `${countOf(marked, "person", "people")} to look at.`}{" "}
        That you see this is on record.
      </p>
      <div className={styles["filters"]}>
        <Field label="Show">
          <select
            value={chosen}
            onChange={({ target }) => setChosen(target.value as typeof chosen)}
          >
            <option value="all">everybody</option>
            <option value="roles">who holds a role of the whole appliance</option>
            <option value="marked">what to look at</option>
          </select>
        </Field>
        <Field label="Project">
          <select value={project} onChange={({ target }) => setProject(target.value)}>
            <option value="">all projects</option>
            {projects.map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      </div>
      {shown.length === 0 ? (
        <Empty title="Nobody matches">
          <p>Choose everybody, and all projects.</p>
        </Empty>
      ) : (
        <Table caption="Who may do what" columns={PEOPLE} rows={shown} keyOf={({ id }) => id} />
      )}
      {programs.length === 0 ? null : (
        <Panel title="Programs">
          <Table
            caption="Programs"
            columns={PROGRAMS}
            rows={programs.filter(({ projectId }) => project === "" || projectId === project)}
            keyOf={({ id }) => id}
          />
        </Panel>
      )}
      <Row>
        <Button
          onPress={() =>
            saveBytes(accessCsv(review.data), `access-${at.slice(0, 10)}.csv`, "text/csv")
          }
        >
          Download as CSV
        </Button>
        <Button look="quiet" onPress={() => void review.refetch()} isDisabled={review.isFetching}>
          Look again
        </Button>
      </Row>
    </>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  return lines.map((line) => (
    <div key={line} className={styles["line"]}>
      {line}
    </div>
  ));
}
