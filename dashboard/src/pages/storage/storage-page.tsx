import { useSearchParams } from "wouter";
import { useMay, useSession } from "../../api/session.ts";
import { Empty } from "../../ui/notice.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { PanelGrid } from "../../ui/panel.tsx";
import { BucketFill } from "./bucket-fill.tsx";
import { Folder } from "./folder.tsx";
import { KeyPair } from "./key-pair.tsx";
import { PutFiles } from "./put-files.tsx";
import styles from "./storage.module.css";

/** What fills it? */
export function StoragePage() {
  const { projects } = useSession();
  const mayWrite = useMay("bucket.write");
  const [search, setSearch] = useSearchParams();
  const project = search.get("project") ?? projects[0]?.id ?? "";
  const prefix = search.get("at") ?? "";
  if (project === "")
    return (
      <Empty title="No project yet">
        <p>A bucket belongs to a project. A project lead makes you a member of one.</p>
      </Empty>
    );
  return (
    <>
      <PageHead
        title="Storage"
        actions={
          projects.length < 2 ? null : (
            <label>
              <span className="unseen">Project</span>
              <select
                className={styles["choose"]}
                value={project}
                onChange={({ target }) => setSearch({ project: target.value })}
              >
                {projects.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          )
        }
      />
      <BucketFill project={project} />
      <Folder key={`${project} ${prefix}`} project={project} prefix={prefix} />
      <PanelGrid>
        {mayWrite ? <PutFiles project={project} prefix={prefix} /> : null}
        <KeyPair project={project} />
      </PanelGrid>
    </>
  );
}
