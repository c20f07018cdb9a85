import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask } from "../../api/ask.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { At } from "../../ui/instant.tsx";
import { loadedComponent } from "../../ui/loaded-component.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { previewKind } from "../../ui/preview/preview-kind.ts";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { download, readUrl } from "./download.ts";
import styles from "./storage.module.css";

/** No part of the page before somebody opens an object. */
const Preview = loadedComponent(async () => (await import("../../ui/preview/preview.tsx")).Preview);

/** What an object was and is: its versions, each to be read, and to be made the newest again. */
export function ObjectDetails({
  project,
  objectKey: key,
  mayWrite,
  onChange,
}: {
  project: string;
  objectKey: string;
  mayWrite: boolean;
  onChange: () => Promise<void>;
}) {
  const client = useQueryClient();
  const queryKey = ["versions", project, key];
  const [isShown, setShown] = useState(false);
  const [wanted, setWanted] = useState<string | null>(null);
  useEffect(() => void Preview.preload(), []);
  const versions = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      ask("GET", "/api/users/storage/versions", { query: { key }, project, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const fetchIt = useAction(async (versionId: string) => await download(key, project, versionId));
  const restore = useAction(async (versionId: string) => {
    await ask("POST", "/api/users/storage/restore", { body: { key, versionId }, project });
    setWanted(null);
    await client.invalidateQueries({ queryKey });
    await onChange();
  });
  if (versions.isPending) return <Skeleton rows={2} />;
  if (versions.isError)
    return <Failure error={versions.error} retry={() => void versions.refetch()} />;
  const newest = versions.data.find(({ isLatest }) => isLatest);
  return (
    <div className={styles["details"]}>
      {previewKind(key) === null || newest === undefined || newest.isRemoval ? null : isShown ? (
        <Preview
          file={{
            ...{ name: key, sizeBytes: newest.sizeBytes },
            urlOf: () => readUrl(key, project, newest.versionId),
          }}
          version={[project, key, newest.versionId]}
        />
      ) : (
        <div>
          <Button onPress={() => setShown(true)}>Look inside</Button>
        </div>
      )}
      <Table
        caption={`Versions of ${key}`}
        rows={versions.data}
        keyOf={({ versionId }) => versionId}
        columns={[
          { title: "Version", of: ({ versionId }) => <code>{versionId}</code>, narrow: "main" },
          {
            title: "What",
            narrow: "below",
            of: ({ isLatest, isRemoval }) =>
              isRemoval ? "removed then" : isLatest ? "the newest" : "older",
          },
          {
            title: "Size",
            narrow: "below",
            of: ({ isRemoval, sizeBytes }) => (isRemoval ? "" : bytes(sizeBytes)),
            isNumber: true,
          },
          { title: "Made", of: ({ modifiedAt }) => <At at={modifiedAt} />, narrow: "below" },
          {
            title: "Actions",
            of: ({ versionId, isLatest, isRemoval }) =>
              isRemoval ? null : (
                <Row>
                  <Button
                    aria-label={`Download version ${versionId}`}
                    onPress={() => fetchIt.run(versionId)}
                  >
                    Download
                  </Button>
                  {mayWrite && !isLatest ? (
                    <Button
                      aria-label={`Restore version ${versionId}`}
                      onPress={() => setWanted(versionId)}
                    >
                      Restore
                    </Button>
                  ) : null}
                </Row>
              ),
          },
        ]}
      />
      {fetchIt.error === null ? null : <Failure error={fetchIt.error} />}
      <Question
        title={`Restore this version of ${key}?`}
        act="Restore"
        look="main"
        isOpen={wanted !== null}
        isBusy={restore.isBusy}
        onAct={() => {
          if (wanted !== null) restore.run(wanted);
        }}
        onClose={() => {
          restore.forget();
          setWanted(null);
        }}
      >
        <p>It becomes the newest one. All others stay, and the copy counts in the quota.</p>
        {restore.error === null ? null : <Failure error={restore.error} />}
      </Question>
    </div>
  );
}
