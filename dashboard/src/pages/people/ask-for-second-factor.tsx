import type { PersonReply, Requested } from "@resontech/contracts/http-approvals";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useKept } from "../../ui/use-kept.ts";
import { ChoosePerson } from "./choose-person.tsx";
import { Asked } from "./asked.tsx";
import { AskedReason, withReason } from "../../ui/asked-reason.tsx";

/** A person who lost phone and passkey: a second person answers. */
export function AskForSecondFactor({ people }: { people: readonly PersonReply[] }) {
  const [userId, setUserId] = useKept("rt-factor", "");
  const [reason, setReason] = useKept("rt-factor-reason", "");
  const [isDone, setDone] = useState(false);
  const request = useAction(async () => {
    const what: Requested = { kind: "second-factor", userId };
    await ask("POST", "/api/approvals", { body: { what, ...withReason(reason) } });
    setUserId("");
    setReason("");
    setDone(true);
  });
  return (
    <Panel title="A lost second factor">
      <p>Once approved, the person sets up a new one at the next sign-in.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setDone(false);
          request.run();
        }}
      >
        <ChoosePerson
          label="Whose second factor is lost"
          people={people}
          value={userId}
          onChange={setUserId}
          isRequired
        />
        <AskedReason value={reason} onChange={setReason} />
        <p>
          <Button type="submit" isDisabled={request.isBusy}>
            Ask to void it
          </Button>
        </p>
      </form>
      <Asked error={request.error} isDone={isDone} />
    </Panel>
  );
}
