import { useMay } from "../../api/session.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { PanelGrid, PanelStack } from "../../ui/panel.tsx";
import { NodesUse } from "../nodes/nodes-use.tsx";
import { Endpoints } from "./endpoints.tsx";
import { LivingJobs } from "./living-jobs.tsx";
import { OwnJobs } from "./own-jobs.tsx";
import { Tiles } from "./tiles.tsx";
import { ToApprove } from "./to-approve.tsx";
import { Workers } from "./workers.tsx";
import { Wrong } from "./wrong.tsx";

/** What is wrong, what waits and why, what runs, how busy is all, what is mine? Each role sees its part. */
export function OverviewPage() {
  const mayList = useMay("job.list");
  const mayStatus = useMay("appliance.status");
  const mayFleet = useMay("fleet.read");
  const mayNodes = useMay("node.list");
  const mayApprove = useMay("approval.list");
  return (
    <>
      <PageHead title="Overview" />
      <Tiles />
      {mayStatus ? <Wrong /> : null}
      {mayApprove ? <ToApprove /> : null}
      {mayList ? <LivingJobs /> : null}
      <PanelGrid>
        {mayList ? <OwnJobs /> : null}
        <PanelStack>
          {mayFleet ? <Workers /> : null}
          {mayList ? <Endpoints /> : null}
        </PanelStack>
      </PanelGrid>
      {mayNodes ? <NodesUse /> : null}
    </>
  );
}
