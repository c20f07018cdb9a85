import { Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { AppliancePage } from "../pages/appliance/appliance-page.tsx";
import { ApprovalsPage } from "../pages/approvals/approvals-page.tsx";
import { AuditPage } from "../pages/audit/audit-page.tsx";
import { EntryPage } from "../pages/audit/entry-page.tsx";
import { DeployPage } from "../pages/inference/deploy/deploy-page.tsx";
import { HubPage } from "../pages/inference/hub/hub-page.tsx";
import { DeploymentPage } from "../pages/inference/deployment-page.tsx";
import { DeploymentsPage } from "../pages/inference/deployments-page.tsx";
import { JobPage } from "../pages/job/job-page.tsx";
import { JobsPage } from "../pages/jobs/jobs-page.tsx";
import { KeysPage } from "../pages/keys/keys-page.tsx";
import { NodePage } from "../pages/nodes/node-page.tsx";
import { NodesPage } from "../pages/nodes/nodes-page.tsx";
import { OverviewPage } from "../pages/overview/overview-page.tsx";
import { PeoplePage } from "../pages/people/people-page.tsx";
import { ProfilePage } from "../pages/profile/profile-page.tsx";
import { StoragePage } from "../pages/storage/storage-page.tsx";
import { useSession } from "../api/session.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import {
  LoadedArray,
  LoadedArrays,
  LoadedCompare,
  LoadedQueue,
  LoadedSubmit,
} from "./loaded-pages.ts";
import { NoSuchPage } from "./no-such-page.tsx";
import { Shell } from "./shell.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { useTab } from "../ui/tab.ts";

/** Every page under its address. */
export function Dashboard() {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Skeleton />}>
        <Router base="/dashboard">
          <Shell>
            <ErrorBoundary>
              <Switch>
                <Route path="/" component={Landing} />
                <Route path="/jobs" component={JobsPage} />
                <Route path="/jobs/:id/:tab?">
                  {({ id, tab }) => <JobPage key={id} id={id} tab={tab ?? "rounds"} />}
                </Route>
                <Route path="/arrays" component={LoadedArrays} />
                <Route path="/arrays/:id">{({ id }) => <LoadedArray key={id} id={id} />}</Route>
                <Route path="/compare" component={LoadedCompare} />
                <Route path="/inference" component={DeploymentsPage} />
                <Route path="/inference/models" component={HubPage} />
                <Route path="/inference/deploy" component={DeployPage} />
                <Route path="/inference/jobs/:id/:tab?">
                  {({ id, tab }) => <DeploymentPage key={id} id={id} tab={tab ?? "call"} />}
                </Route>
                <Route path="/nodes" component={NodesPage} />
                <Route path="/nodes/:id">{({ id }) => <NodePage key={id} id={id} />}</Route>
                <Route path="/queue" component={LoadedQueue} />
                <Route path="/submit" component={LoadedSubmit} />
                <Route path="/storage" component={StoragePage} />
                <Route path="/keys" component={KeysPage} />
                <Route path="/people" component={PeoplePage} />
                <Route path="/profile" component={ProfilePage} />
                <Route path="/approvals" component={ApprovalsPage} />
                <Route path="/audit" component={AuditPage} />
                <Route path="/audit/:shard/:index">
                  {({ shard, index }) => <EntryPage shard={shard} index={index} />}
                </Route>
                <Route path="/appliance" component={Appliance} />
                <Route component={NoSuchPage} />
              </Switch>
            </ErrorBoundary>
          </Shell>
        </Router>
      </Suspense>
    </ErrorBoundary>
  );
}

/** The page has no head of its own that names the tab. */
function Appliance() {
  useTab("Appliance");
  return <AppliancePage />;
}

/** An auditor comes for the log, everybody else for what runs. */
function Landing() {
  const { roles } = useSession();
  if (roles.includes("compliance-auditor")) return <Redirect to="/audit" replace />;
  return <OverviewPage />;
}
