import type { MemberReply } from "@resontech/contracts/http-projects";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";

/** Jobs of somebody who was just taken out get another owner; without one they stay as they are. */
export function HandOver({
  projectId,
  leaver,
  members,
  onDone,
}: {
  projectId: string;
  leaver: Pick<MemberReply, "userId" | "username">;
  members: readonly MemberReply[];
  onDone: (said: string) => void;
}) {
  const able = members.filter(({ role }) => role !== "viewer");
  const [to, setTo] = useState(able[0]?.userId ?? "");
  const hand = useAction(async () => {
    const { jobs } = await ask("POST", "/api/projects/{id}/handover", {
      params: { id: projectId },
      body: { from: leaver.userId, to },
    });
    const name = able.find(({ userId }) => userId === to)?.username ?? to;
    onDone(`${jobs} jobs of ${leaver.username} belong to ${name} now.`);
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        hand.run();
      }}
    >
      <Field label={`Jobs of ${leaver.username} go to`}>
        <select required value={to} onChange={({ target }) => setTo(target.value)}>
          {able.map(({ userId, username }) => (
            <option key={userId} value={userId}>
              {username}
            </option>
          ))}
        </select>
      </Field>
      <p>
        <Button type="submit" isDisabled={hand.isBusy || to === ""}>
          Hand the jobs over
        </Button>{" "}
        <Button onPress={() => onDone("")}>Leave them</Button>
      </p>
      {hand.error === null ? null : <Failure error={hand.error} />}
    </form>
  );
}
