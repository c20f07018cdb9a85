import type { TaskOutputsReply } from "@resontech/contracts/http-tasks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask } from "../../../api/ask.ts";
import { jobFileUrl } from "../../../api/job-file.ts";
import { bytes } from "../../../ui/bytes.ts";
import { Button } from "../../../ui/button.tsx";
import { countOf } from "../../../ui/count-of.ts";
import { At } from "../../../ui/instant.tsx";
import { loadedComponent } from "../../../ui/loaded-component.tsx";
import { Empty, Failure } from "../../../ui/notice.tsx";
import { Skeleton } from "../../../ui/skeleton.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { useAction } from "../../../ui/use-action.ts";
import { commonRoot, foldersOfFiles } from "./folders-of-files.ts";
import { previewKind } from "../../../ui/preview/preview-kind.ts";
import { RemoveOutputs } from "./remove-outputs.tsx";
import { RequestExport } from "./request-export.tsx";
import styles from "./files.module.css";

type Output = TaskOutputsReply[number];

/** No part of the list. */
const FilePreview = loadedComponent(async () => (await import("./file-preview.tsx")).FilePreview);

/** What the job left: looked at, taken one by one, or a folder as one zip. */
export function Files({
  jobId,
  jobName,
  project,
  isOver,
}: {
  jobId: string;
  jobName: string;
  project: string | undefined;
  isOver: boolean;
}) {
  const [shown, setShown] = useState<Output | null>(null);
  // It is there by the time that somebody presses.
  useEffect(() => void FilePreview.preload(), []);
  const files = useQuery({
    queryKey: ["job", jobId, "files"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/tasks/{id}/outputs", { params: { id: jobId }, signal }),
  });
  const fileOf = ({ key, versionId }: Output) => ({ job: jobId, project, key, versionId });
  const fetchIt = useAction(async (output: Output) => {
    location.assign(await jobFileUrl(fileOf(output)));
  });
  if (files.isPending) return <Skeleton />;
  if (files.isError) return <Failure error={files.error} retry={() => void files.refetch()} />;
  if (files.data.length === 0)
    return (
      <Empty title={isOver ? "No file" : "No file yet"}>
        <p>
          {isOver
            ? "The job stored none, or somebody removed them."
            : "The model, metrics and logs appear here when the job stores them."}
        </p>
      </Empty>
    );
  const root = commonRoot(files.data.map(({ key }) => key));
  const pathOf = ({ key }: Output) => key.slice(root.length);
  const columns: Column<Output>[] = [
    {
      title: "File",
      narrow: "main",
      of: (output) => <Path path={pathOf(output)} />,
      by: pathOf,
    },
    {
      title: "Size",
      narrow: "below",
      of: ({ sizeBytes }) => bytes(sizeBytes),
      by: ({ sizeBytes }) => sizeBytes,
      isNumber: true,
    },
    {
      title: "Stored",
      narrow: "below",
      of: ({ storedAt }) => <At at={storedAt} />,
      by: ({ storedAt }) => storedAt,
    },
    {
      title: "Look, take",
      of: (output) => (
        <div className={styles["actions"]}>
          {previewKind(output.key) === null ? null : (
            <Button aria-label={`Preview ${pathOf(output)}`} onPress={() => setShown(output)}>
              Preview
            </Button>
          )}
          <Button aria-label={`Download ${output.key}`} onPress={() => fetchIt.run(output)}>
            Download
          </Button>
        </div>
      ),
    },
    { title: "SHA-256", of: ({ sha256 }) => <code title={sha256}>{sha256.slice(0, 12)}…</code> },
  ];
  return (
    <>
      {fetchIt.error === null ? null : <Failure error={fetchIt.error} />}
      <ZipChoice
        name={jobName}
        files={files.data.map((output) => ({
          ...fileOf(output),
          path: pathOf(output),
          sizeBytes: output.sizeBytes,
        }))}
      />
      {shown === null ? null : (
        <FilePreview
          file={{ ...fileOf(shown), sizeBytes: shown.sizeBytes }}
          title={pathOf(shown)}
          onClose={() => setShown(null)}
        />
      )}
      <Table
        caption="Files of the job"
        columns={columns}
        rows={files.data}
        keyOf={({ key }) => key}
      />
      <RequestExport jobId={jobId} outputs={files.data} />
      {isOver ? <RemoveOutputs jobId={jobId} count={files.data.length} /> : null}
    </>
  );
}

function Path({ path }: { path: string }) {
  const at = path.lastIndexOf("/") + 1;
  return (
    <code className={styles["path"]}>
      <span className={styles["folder"]}>{path.slice(0, at)}</span>
      {path.slice(at)}
    </code>
  );
}

/** All files, or those of one folder, as one zip. */
function ZipChoice({
  name,
  files,
}: {
  name: string;
  files: readonly (Parameters<typeof jobFileUrl>[0] & { path: string; sizeBytes: number })[];
}) {
  const [folder, setFolder] = useState("");
  const [taken, setTaken] = useState<number | null>(null);
  const chosen = files.filter(({ path }) => path.startsWith(folder));
  const all = chosen.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const zip = useAction(async () => {
    setTaken(0);
    try {
      const { zipFiles } = await import("./zip-files.ts");
      const of = folder === "" ? "" : `-${folder.slice(0, -1).replaceAll("/", "-")}`;
      await zipFiles(`${name}${of}.zip`, chosen, (count) =>
        setTaken((before) => (before ?? 0) + count),
      );
    } finally {
      setTaken(null);
    }
  });
  const isLarge = all > MOST_ZIP_BYTES;
  const folders = foldersOfFiles(files.map(({ path }) => path));
  return (
    <>
      <div className={styles["tools"]}>
        <label>
          Take{" "}
          <select value={folder} onChange={({ target }) => setFolder(target.value)}>
            <option value="">all files</option>
            {folders.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <Button onPress={() => zip.run()} isDisabled={zip.isBusy || isLarge}>
          Download as one zip
        </Button>
        <span role="status" className={styles["note"]}>
          {taken === null
            ? `${countOf(chosen.length, "file")}, ${bytes(all)}${isLarge ? ": more than one zip holds. Take a folder, or single files." : ""}`
            : `${bytes(taken)} of ${bytes(all)}`}
        </span>
      </div>
      {zip.error === null ? null : <Failure error={zip.error} />}
    </>
  );
}

/** A zip without the larger form has no more. */
const MOST_ZIP_BYTES = 4 * 1024 ** 3 - 1024 ** 2;
