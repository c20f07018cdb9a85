import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { FindingList } from "../appliance/finding-list.tsx";
import { useAppliance } from "../appliance/use-appliance.ts";

/** What an operator must look at. */
export function Wrong() {
  const appliance = useAppliance();
  if (appliance.isPending) return <Skeleton rows={2} />;
  if (appliance.isError)
    return <Failure error={appliance.error} retry={() => void appliance.refetch()} />;
  return (
    <Panel title="What is wrong">
      <FindingList findings={appliance.data.findings} />
    </Panel>
  );
}
