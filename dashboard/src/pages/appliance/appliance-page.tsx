import { useMay } from "../../api/session.ts";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { JobStates } from "./job-states.tsx";
import { problemsOf } from "./problems-of.ts";
import { Problems } from "./problems.tsx";
import { useAppliance } from "./use-appliance.ts";

/** Is the box sound? */
export function AppliancePage() {
  const appliance = useAppliance();
  const mayStates = useMay("job.state.list");
  if (appliance.isPending) return <Skeleton />;
  if (appliance.isError)
    return <Failure error={appliance.error} retry={() => void appliance.refetch()} />;
  const box = appliance.data;
  const ready = box.nodes.filter(({ state }) => state === "READY").length;
  return (
    <>
      <h1>Appliance</h1>
      <Panel title="What is wrong">
        <Problems problems={problemsOf(box)} />
        <p>
          Disks, certificates and parts of the host are looked at there:{" "}
          <code>sudo appliance status</code>.
        </p>
      </Panel>
      <Panel title="Parts">
        <Facts
          facts={[
            ["Version", box.version],
            [
              "Audit log",
              box.audit.waiting === 0
                ? box.audit.state
                : `${box.audit.state}, ${box.audit.waiting} records wait`,
            ],
            ["Message bus", box.bus],
            ["Database", box.database],
            ["Object store", box.storage],
            ["Event loop", `${Math.round(box.loopLagMs)} ms late at most in the last minute`],
            ["Nodes", `${ready} of ${box.nodes.length} ready`],
            [
              "Jobs",
              Object.entries(box.jobs)
                .map(([state, count]) => `${count} ${state.toLowerCase()}`)
                .join(", ") || "none",
            ],
            ["Policies", <code key="policies">{box.policySet}</code>],
            ["Planned stop", box.plannedStopUntil ?? "none"],
          ]}
        />
      </Panel>
      {mayStates ? <JobStates /> : null}
    </>
  );
}
