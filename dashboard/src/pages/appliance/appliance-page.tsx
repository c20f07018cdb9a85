import type { ApplianceReply, HostReply } from "@resontech/contracts/http-appliance";
import { useMay } from "../../api/session.ts";
import { Ago } from "../../ui/instant.tsx";
import { Failure } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Facts, Panel, PanelGrid } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Alerts, PastAlerts } from "./alerts.tsx";
import { Backups } from "./backups.tsx";
import { Certificates } from "./certificates.tsx";
import { Disks } from "./disks.tsx";
import { FindingList } from "./finding-list.tsx";
import { HostCommands } from "./host-commands.tsx";
import { JobStates } from "./job-states.tsx";
import { PartsTable } from "./parts-table.tsx";
import { ReleaseList } from "./release-list.tsx";
import { useAppliance } from "./use-appliance.ts";
import styles from "./appliance.module.css";

/** Is the box sound? */
export function AppliancePage() {
  const appliance = useAppliance();
  const mayStates = useMay("job.state.list");
  if (appliance.isPending) return <Skeleton />;
  if (appliance.isError)
    return <Failure error={appliance.error} retry={() => void appliance.refetch()} />;
  const box = appliance.data;
  return (
    <>
      <PageHead title="Appliance" />
      <Panel title="What is wrong">
        <FindingList findings={box.findings} />
        {box.host === null ? null : (
          <p className={styles["quiet"]}>
            Of the host as of <Ago at={box.host.at} />, of the rest as of now.
          </p>
        )}
      </Panel>
      {box.host === null ? null : <Host host={box.host} />}
      <PanelGrid>
        <Panel title="Work">
          <Work box={box} />
        </Panel>
        <Panel title="On the host">
          <HostCommands />
        </Panel>
      </PanelGrid>
      {mayStates ? <JobStates /> : null}
    </>
  );
}

/** What the supervisor looked at. */
function Host({ host }: { host: HostReply }) {
  return (
    <>
      <PanelGrid>
        <Panel title="Disks">
          <Disks disks={host.disks} now={Date.parse(host.at)} />
        </Panel>
        <Panel title="Alerts">
          <Alerts alerts={host.alerts} />
        </Panel>
        <Panel title="Backups">
          <Backups backup={host.backup} />
        </Panel>
        <Panel title="Releases">
          <ReleaseList releases={host.releases} />
        </Panel>
      </PanelGrid>
      <Panel title="Alerts before">
        <PastAlerts />
      </Panel>
      <Panel title="Parts">
        <PartsTable parts={host.parts} />
      </Panel>
      <Panel title="Certificates">
        <Certificates certificates={host.certificates} now={Date.parse(host.at)} />
      </Panel>
    </>
  );
}

function Work({ box }: { box: ApplianceReply }) {
  const ready = box.nodes.filter(({ state }) => state === "READY").length;
  const { state, waiting } = box.audit;
  return (
    <Facts
      facts={[
        ["Version", box.version],
        ["Audit log", waiting === 0 ? state : `${state}, ${waiting} records wait`],
        ["Message bus", box.bus],
        ["Database", box.database],
        ["Object store", box.storage],
        ["Event loop", `${Math.round(box.loopLagMs)} ms late at most in the last minute`],
        ["Nodes", `${ready} of ${box.nodes.length} ready`],
        [
          "Jobs",
          Object.entries(box.jobs)
            .map(([name, count]) => `${count} ${name.toLowerCase()}`)
            .join(", ") || "none",
        ],
        ["Policies", <code key="policies">{box.policySet}</code>],
        ["Planned stop", box.plannedStopUntil ?? "none"],
      ]}
    />
  );
}
