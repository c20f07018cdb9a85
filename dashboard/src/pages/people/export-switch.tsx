import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useAction } from "../../ui/use-action.ts";
import { useProject } from "./use-project.ts";

/** How outputs of a project leave. A lead or officer lets them leave by approval alone; an officer alone takes that back. */
export function ExportSwitch({ project: { id, name } }: { project: { id: string; name: string } }) {
  const { project, error, again } = useProject(id);
  const [said, setSaid] = useState("");
  const change = useAction(async (byApproval: boolean) => {
    setSaid("");
    await ask("PUT", "/api/projects/{id}/exports", { params: { id }, body: { byApproval } });
    setSaid(
      byApproval
        ? "Outputs of the project leave by approval alone from now on."
        : "Outputs of the project leave as its members like.",
    );
    await again();
  });
  if (project === null)
    return error === null ? (
      <Skeleton rows={1} />
    ) : (
      <Failure error={error} retry={() => void again()} />
    );
  const { exportsByApproval } = project;
  return (
    <>
      <p>
        Now outputs of {name} leave{" "}
        <strong>{exportsByApproval ? "by approval alone" : "as its members like"}</strong>.
        {exportsByApproval ? " Only a security officer takes that back." : null}
      </p>
      <Row>
        <Button onPress={() => change.run(true)} isDisabled={change.isBusy || exportsByApproval}>
          By approval alone
        </Button>
        <Button onPress={() => change.run(false)} isDisabled={change.isBusy || !exportsByApproval}>
          As members like
        </Button>
        <span role="status">{said}</span>
      </Row>
      {change.error === null ? null : <Failure error={change.error} />}
    </>
  );
}
