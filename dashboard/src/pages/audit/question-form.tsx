import { QUESTION_IDS, QUESTION_PARAMETERS, QUESTIONS } from "@resontech/contracts/audit-questions";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import styles from "./audit.module.css";

type Question = {
  title: string;
  needs: readonly string[];
  takes: readonly string[];
  limits: string;
};
const CATALOGUE: Readonly<Record<string, Question>> = QUESTIONS;
const LABELS: Readonly<Record<string, string>> = {
  ...{ data: "Data set", person: "Person", job: "Job", deployment: "Deployment" },
  ...{ from: "From", to: "Until" },
};
const HINTS: Readonly<Record<string, string>> = {
  ...QUESTION_PARAMETERS,
  ...{ from: "2026-01-31, yesterday, 7d", to: "2026-01-31, today" },
};

/** The question and its values, as they stand in the page's address. */
export type AskedQuestion = { question: string } & Record<string, string>;

/** What no entry shows of a question; null for none of the catalogue. */
export function limitsOf(question: string): string | null {
  return CATALOGUE[question]?.limits ?? null;
}

/** One of the questions that the log answers, with what it is about. */
export function QuestionForm({
  initial,
  onAsk,
}: {
  initial: Readonly<Record<string, string>>;
  onAsk: (asked: AskedQuestion) => void;
}) {
  const [question, setQuestion] = useState(initial["question"] ?? QUESTION_IDS[0]!);
  const [values, setValues] = useState(initial);
  const { needs = [], takes = [] } = CATALOGUE[question] ?? {};
  const names = [...needs, ...takes, "from", "to"];
  return (
    <form
      className={styles["search"]}
      aria-label="A question to the log"
      onSubmit={(event) => {
        event.preventDefault();
        const given = names.flatMap((name) => (values[name] ? [[name, values[name]]] : []));
        onAsk({ ...(Object.fromEntries(given) as Record<string, string>), question });
      }}
    >
      <Field label="Question" hint="an answer is a list of entries">
        <select value={question} onChange={({ target }) => setQuestion(target.value)}>
          {QUESTION_IDS.map((id) => (
            <option key={id} value={id}>
              {QUESTIONS[id].title}
            </option>
          ))}
        </select>
      </Field>
      {names.map((name) => (
        <Field key={name} label={LABELS[name] ?? name} hint={HINTS[name] ?? ""}>
          <input
            maxLength={1_000}
            required={needs.includes(name)}
            value={values[name] ?? ""}
            onChange={({ target }) => setValues({ ...values, [name]: target.value })}
          />
        </Field>
      ))}
      <div className={styles["go"]}>
        <Button look="main" type="submit">
          Ask
        </Button>
      </div>
    </form>
  );
}
