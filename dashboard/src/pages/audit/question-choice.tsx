import { QUESTION_IDS, QUESTION_PARAMETERS, QUESTIONS } from "@resontech/contracts/audit-questions";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import type { Asked } from "./asked.ts";
import { OF_PEOPLE, QUESTION_LABELS } from "./asked-words.ts";
import { isPseudonym, personOf, type Names } from "./named-people.ts";
import type { AskedPeriod } from "./period.ts";
import { PeriodFields } from "./period-fields.tsx";
import { PeopleList } from "./people-list.tsx";
import { personHint, UnknownName } from "./person-words.tsx";
import { useNamedFields } from "./use-named-fields.ts";
import styles from "./audit.module.css";

type Question = {
  title: string;
  needs: readonly string[];
  takes: readonly string[];
  limits: string;
};
const CATALOGUE: Readonly<Record<string, Question>> = QUESTIONS;
const HINTS: Readonly<Record<string, string>> = QUESTION_PARAMETERS;
const FIRST_PERIOD: AskedPeriod = { from: "7d" };

/** What no entry shows of a question; null for none of the catalogue. */
export function limitsOf(question: string): string | null {
  return CATALOGUE[question]?.limits ?? null;
}

/** The questions that the log answers, each a press away; what one is about stands below. */
export function QuestionChoice({
  asked,
  names,
  onAsk,
}: {
  asked: Asked;
  names: Names;
  onAsk: (asked: Record<string, string>) => void;
}) {
  const { question } = asked;
  const [seen, setSeen] = useState(asked.at);
  const [chosen, setChosen] = useState(question);
  const [values, setValues] = useNamedFields(asked, valuesOf, names);
  const [period, setPeriod] = useState(periodOf(asked));
  const [isUnknown, setUnknown] = useState(false);
  // The address was changed by something else: a link, or the way back.
  if (seen !== asked.at) {
    setSeen(asked.at);
    setChosen(question);
    setPeriod(periodOf(asked));
  }
  const form = useRef<HTMLFormElement>(null);
  const isFresh = useRef(false);
  const needs = chosen === null ? [] : (CATALOGUE[chosen]?.needs ?? []);
  const fields = chosen === null ? [] : fieldsOf(chosen);
  const answer = (id: string) => {
    const given = fieldsOf(id).flatMap((name) => {
      const value = values[name]?.trim() ?? "";
      return value === "" ? [] : [[name, OF_PEOPLE.has(name) ? personOf(value, names) : value]];
    });
    const isName = given.some(([name, value]) => OF_PEOPLE.has(name!) && !isPseudonym(value!));
    setUnknown(isName);
    if (isName) return;
    onAsk({ ...(Object.fromEntries(given) as Record<string, string>), ...period, question: id });
  };
  const choose = (id: string) => {
    setChosen(id);
    // What is needed is asked for first; all else can be answered at once.
    isFresh.current = true;
    if (CATALOGUE[id]!.needs.every((name) => (values[name] ?? "").trim() !== "")) answer(id);
  };
  useEffect(() => {
    if (isFresh.current && needs.length > 0) form.current?.querySelector("input")?.focus();
    isFresh.current = false;
  }, [chosen, needs]);
  return (
    <>
      <div role="group" aria-label="Questions" className={styles["questions"]}>
        {QUESTION_IDS.map((id) => (
          <button
            key={id}
            type="button"
            aria-pressed={id === chosen}
            className={styles["question"]}
            onClick={() => choose(id)}
          >
            {QUESTIONS[id].title}
          </button>
        ))}
      </div>
      <form
        ref={form}
        className={styles["about"]}
        aria-label="What the question is about"
        onSubmit={(event) => {
          event.preventDefault();
          if (chosen !== null) answer(chosen);
        }}
      >
        {fields.map((name) => (
          <Field
            key={name}
            label={
              needs.includes(name)
                ? QUESTION_LABELS[name]!
                : `${QUESTION_LABELS[name]}, if one alone`
            }
            hint={
              OF_PEOPLE.has(name)
                ? personHint(values[name], names, HINTS[name] ?? "")
                : (HINTS[name] ?? "")
            }
          >
            <input
              maxLength={1_000}
              required={needs.includes(name)}
              list={OF_PEOPLE.has(name) ? "audit-people" : undefined}
              autoComplete="off"
              value={values[name] ?? ""}
              onChange={({ target }) => setValues({ ...values, [name]: target.value })}
            />
          </Field>
        ))}
        <PeriodFields period={period} onChange={setPeriod} />
        <div className={styles["beside"]}>
          <Button look="main" type="submit" isDisabled={chosen === null}>
            Ask
          </Button>
        </div>
        <PeopleList id="audit-people" names={names} />
        {isUnknown ? <UnknownName areShown={names.size > 0} /> : null}
      </form>
    </>
  );
}

/** What a question may be asked about; of a question that is none, nothing. */
function fieldsOf(id: string): readonly string[] {
  const { needs = [], takes = [] }: Partial<Question> = CATALOGUE[id] ?? {};
  return [...needs, ...takes];
}

function valuesOf({ question, about }: Asked): Asked["about"] {
  return question === null ? {} : about;
}

function periodOf({ question, about: { from, to } }: Asked): AskedPeriod {
  if (question === null) return FIRST_PERIOD;
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}
