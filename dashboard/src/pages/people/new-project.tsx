import { type CreateProjectBody, MAX_TITLE } from "@resontech/contracts/http-projects";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";

const FIRST = { name: "", team: "", lead: "" };

/** A project of a team, with a bucket of its own and its first lead. */
export function NewProject() {
  const [draft, setDraft] = useKept("rt-project", FIRST);
  const [said, setSaid] = useState("");
  const make = useAction(async () => {
    setSaid("");
    const { name, team, lead } = draft;
    const body: CreateProjectBody = { name, lead, ...(team === "" ? {} : { team }) };
    await ask("POST", "/api/projects", { body });
    setDraft(FIRST);
    setSaid(`${name} is there. ${lead} leads it, and takes its members in.`);
  });
  const field = (name: keyof typeof FIRST, isRequired = true) => ({
    ...{ required: isRequired, maxLength: MAX_TITLE, autoComplete: "off", value: draft[name] },
    onChange: ({ target }: { target: { value: string } }) =>
      setDraft({ ...draft, [name]: target.value }),
  });
  return (
    <Panel title="Make a project">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          make.run();
        }}
      >
        <Field label="Name of the project">
          <input {...field("name")} />
        </Field>
        <Field label="Team" hint="May be left empty. A team that is not there is made.">
          <input {...field("team", false)} />
        </Field>
        <Field label="Its first lead" hint="A user name">
          <input {...field("lead")} />
        </Field>
        <p>
          <Button type="submit" isDisabled={make.isBusy}>
            Make the project
          </Button>{" "}
          <span role="status">{said}</span>
        </p>
      </form>
      {make.error === null ? null : <Failure error={make.error} />}
    </Panel>
  );
}
