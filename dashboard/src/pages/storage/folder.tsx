import type { ObjectsReply } from "@resontech/contracts/http-storage";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Opener } from "../../ui/opener.tsx";
import { Row } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { Crumbs } from "./crumbs.tsx";
import { download } from "./download.ts";
import { ObjectDetails } from "./object-details.tsx";
import { orUnmade } from "./or-unmade.ts";
import { useChanged } from "./use-changed.ts";
import { useSizes } from "./use-sizes.ts";
import { ZipFolder } from "./zip-folder.tsx";
import styles from "./storage.module.css";

type Entry =
  | { kind: "folder"; key: string; sizeBytes: number | null }
  | ({ kind: "object" } & ObjectsReply["objects"][number]);

/** One folder of the bucket: folders first, each object opens in place. */
export function Folder({ project, prefix }: { project: string; prefix: string }) {
  const mayWrite = useMay("bucket.write");
  const queryKey = ["objects", project, prefix];
  const [leaving, setLeaving] = useState<string | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const sizes = useSizes(project, prefix);
  const folder = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: after, signal }) =>
      orUnmade<ObjectsReply>(
        ask("GET", "/api/users/storage/objects", { query: { prefix, after }, project, signal }),
        { folders: [], objects: [], next: null },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // To list a bucket is a fact of the audit log: nothing asks again by itself.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const changed = useChanged(project);
  const fetchIt = useAction(async (key: string) => await download(key, project));
  const remove = useAction(async (key: string) => {
    await ask("DELETE", "/api/users/storage/objects", { query: { key }, project });
    setLeaving(null);
    setOpen(null);
    await changed();
  });
  if (folder.isPending) return <Skeleton />;
  if (folder.isError) return <Failure error={folder.error} retry={() => void folder.refetch()} />;
  const sizeOf = new Map(sizes?.folders.map(({ key, sizeBytes }) => [key, sizeBytes]));
  const { pages } = folder.data;
  const entries: Entry[] = [
    ...pages
      .flatMap(({ folders }) => folders)
      .map((key): Entry => ({ kind: "folder", key, sizeBytes: sizeOf.get(key) ?? null })),
    ...pages
      .flatMap(({ objects }) => objects)
      .map((object): Entry => ({ kind: "object", ...object })),
  ];
  const columns: Column<Entry>[] = [
    {
      title: "Name",
      narrow: "main",
      of: ({ kind, key }) => {
        const name = key.slice(prefix.length);
        return kind === "folder" ? (
          <Link href={`/storage?project=${project}&at=${encodeURIComponent(key)}`}>{name}</Link>
        ) : (
          <Opener isOpen={open === key} onPress={() => setOpen(open === key ? null : key)}>
            <code className={styles["name"]}>{name}</code>
          </Opener>
        );
      },
    },
    {
      title: "Size",
      narrow: "below",
      of: ({ sizeBytes }) => (sizeBytes === null ? "" : bytes(sizeBytes)),
      isNumber: true,
      by: ({ sizeBytes }) => sizeBytes,
    },
    {
      title: "Changed",
      narrow: "below",
      of: (entry) => (entry.kind === "object" ? <At at={entry.modifiedAt} /> : ""),
      by: (entry) => (entry.kind === "object" ? entry.modifiedAt : null),
    },
    {
      title: "Actions",
      of: ({ kind, key }) =>
        kind === "folder" ? (
          <ZipFolder project={project} prefix={key} />
        ) : (
          <Row>
            <Button aria-label={`Download ${key}`} onPress={() => fetchIt.run(key)}>
              Download
            </Button>
            {mayWrite ? (
              <Button look="danger" aria-label={`Remove ${key}`} onPress={() => setLeaving(key)}>
                Remove
              </Button>
            ) : null}
          </Row>
        ),
    },
  ];
  return (
    <>
      <Crumbs project={project} prefix={prefix} />
      {fetchIt.error === null ? null : <Failure error={fetchIt.error} />}
      {entries.length === 0 ? (
        <Empty title="Nothing lies here">
          {mayWrite ? (
            <p>
              Upload files below, or with <code>resontech storage put FILE KEY</code> in a shell.
              The Python client uploads by itself.
            </p>
          ) : (
            <p>Whoever may write into the project puts files here.</p>
          )}
        </Empty>
      ) : (
        <Table
          caption="Objects"
          rows={entries}
          keyOf={({ key }) => key}
          columns={columns}
          below={(entry) =>
            entry.kind === "object" && entry.key === open ? (
              <ObjectDetails
                project={project}
                objectKey={entry.key}
                mayWrite={mayWrite}
                onChange={changed}
              />
            ) : null
          }
        />
      )}
      {folder.hasNextPage ? (
        <div>
          <Button onPress={() => void folder.fetchNextPage()}>More</Button>
        </div>
      ) : null}
      <Question
        title={`Remove ${leaving ?? ""}?`}
        act="Remove"
        isOpen={leaving !== null}
        isBusy={remove.isBusy}
        onAct={() => {
          if (leaving !== null) remove.run(leaving);
        }}
        onClose={() => setLeaving(null)}
      >
        <p>
          Its versions stay until the appliance collects them, and count in the quota until then.
        </p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
    </>
  );
}
