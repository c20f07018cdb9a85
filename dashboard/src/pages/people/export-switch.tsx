import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";

/** How outputs of a project leave. A lead or officer lets them leave by approval alone; an officer alone takes that back. */
export function ExportSwitch({ project }: { project: { id: string; name: string } }) {
  const [said, setSaid] = useState("");
  const change = useAction(async (byApproval: boolean) => {
    setSaid("");
    await ask("PUT", "/api/projects/{id}/exports", {
      params: { id: project.id },
      body: { byApproval },
    });
    setSaid(
      byApproval
        ? "Outputs of the project leave by approval alone from now on."
        : "Outputs of the project leave as its members like.",
    );
  });
  return (
    <>
      <p>Outputs of {project.name} leave:</p>
      <Row>
        <Button onPress={() => change.run(true)} isDisabled={change.isBusy}>
          By approval alone
        </Button>
        <Button onPress={() => change.run(false)} isDisabled={change.isBusy}>
          As members like
        </Button>
        <span role="status">{said}</span>
      </Row>
      {change.error === null ? null : <Failure error={change.error} />}
    </>
  );
}
