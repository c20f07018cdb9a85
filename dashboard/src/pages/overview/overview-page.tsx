import { useMay } from "../../api/session.ts";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel, PanelGrid, PanelStack } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { problemsOf } from "../appliance/problems-of.ts";
import { Problems } from "../appliance/problems.tsx";
import { useAppliance } from "../appliance/use-appliance.ts";
import { Endpoints } from "./endpoints.tsx";
import { FleetUse } from "./fleet-use.tsx";
import { LivingJobs } from "./living-jobs.tsx";
import { OwnJobs } from "./own-jobs.tsx";
import { Tiles } from "./tiles.tsx";
import { ToApprove } from "./to-approve.tsx";
import { Workers } from "./workers.tsx";

/** What is wrong, what waits and why, what runs, how busy is all, what is mine? Each role sees its part. */
export function OverviewPage() {
  const mayList = useMay("job.list");
  const mayStatus = useMay("appliance.status");
  const mayFleet = useMay("fleet.read");
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
      {mayFleet ? <FleetUse /> : null}
    </>
  );
}

function Wrong() {
  const appliance = useAppliance();
  if (appliance.isPending) return <Skeleton rows={2} />;
  if (appliance.isError)
    return <Failure error={appliance.error} retry={() => void appliance.refetch()} />;
  return (
    <Panel title="What is wrong">
      <Problems problems={problemsOf(appliance.data)} />
    </Panel>
  );
}
