import type { PersonReply } from "@resontech/contracts/http-approvals";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { At } from "../../ui/instant.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";

/** A second person says that an administrator whom the host's root made is rightly one: the finding ends, on record. */
export function Acknowledge({
  people,
  again,
}: {
  people: readonly PersonReply[];
  again: () => void;
}) {
  const restored = people.filter(({ restoredAt }) => restoredAt !== null);
  const acknowledge = useAction(async (userId: string) => {
    await ask("POST", "/api/people/{id}/acknowledge", { params: { id: userId } });
    again();
  });
  if (restored.length === 0) return null;
  return (
    <Panel title="Made administrator at the host">
      {restored.map(({ id, username, restoredAt }) => (
        <p key={id}>
          Root made {username} an administrator, without two people: <At at={restoredAt ?? ""} />{" "}
          <Button look="danger" isDisabled={acknowledge.isBusy} onPress={() => acknowledge.run(id)}>
            It is right that {username} is an administrator
          </Button>
        </p>
      ))}
      {acknowledge.error === null ? null : <Failure error={acknowledge.error} />}
    </Panel>
  );
}
