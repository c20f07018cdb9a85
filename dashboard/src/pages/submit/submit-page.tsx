import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { Empty } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Views } from "../../ui/views.tsx";
import { CommandForm } from "./command-form.tsx";
import { FolderForm } from "./folder-form.tsx";
import { PredictorForm } from "./predictor-form.tsx";
import { useOpenProjects } from "./project-field.tsx";
import { DIGITS_IN_SHELL } from "./templates.ts";
import { VariantPage } from "./variant-page.tsx";
import styles from "./submit.module.css";

/** Will it be accepted? A job begins with a folder, with a template, or with an earlier job. */
export function SubmitPage() {
  const [search, setSearch] = useSearchParams();
  const projects = useOpenProjects();
  const [project, setProject] = useState(projects[0]?.id ?? "");
  const again = search.get("again");
  if (again !== null) return <VariantPage key={again} job={again} />;
  const of = { project, onProject: setProject };
  return (
    <>
      <PageHead title="Submit a job" about="Submit">
        To run an earlier job again with a change, open it among the <Link href="/jobs">jobs</Link>{" "}
        and press Submit again.
      </PageHead>
      {projects.length === 0 ? (
        <Empty title="No project to submit in">
          <p>Who leads a project can make you a researcher of it.</p>
        </Empty>
      ) : (
        <Views
          label="What to submit"
          selected={search.get("as") ?? "folder"}
          onSelect={(as) => setSearch(as === "folder" ? {} : { as }, { replace: true })}
          views={[
            ["folder", "A federated job", <FolderForm {...of} />],
            ["command", "One script", <CommandForm {...of} />],
            ["predictor", "A predictor", <PredictorForm {...of} />],
            ["sample", "The sample", <Sample />],
          ]}
        />
      )}
    </>
  );
}

function Sample() {
  return (
    <Panel title="Handwritten digits of two sites">
      <p>
        A small network learns from two shards that never meet. The folder{" "}
        <code>examples/digits</code> comes with the appliance.
      </p>
      <pre className={styles["code"]} tabIndex={0}>
        {DIGITS_IN_SHELL}
      </pre>
    </Panel>
  );
}
