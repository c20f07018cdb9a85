import { Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { JobPage } from "../pages/job/job-page.tsx";
import { JobsPage } from "../pages/jobs/jobs-page.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { NoSuchPage } from "./no-such-page.tsx";
import { Shell } from "./shell.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

/** Every page under its address. */
export function Dashboard() {
  return (
    <ErrorBoundary>
      <Suspense fallback={<Skeleton />}>
        <Router base="/dashboard">
          <Shell>
            <ErrorBoundary>
              <Suspense fallback={<Skeleton />}>
                <Switch>
                  <Route path="/">
                    <Redirect to="/jobs" replace />
                  </Route>
                  <Route path="/jobs" component={JobsPage} />
                  <Route path="/jobs/:id/:tab?">
                    {({ id, tab }) => <JobPage key={id} id={id} tab={tab ?? "rounds"} />}
                  </Route>
                  <Route component={NoSuchPage} />
                </Switch>
              </Suspense>
            </ErrorBoundary>
          </Shell>
        </Router>
      </Suspense>
    </ErrorBoundary>
  );
}
