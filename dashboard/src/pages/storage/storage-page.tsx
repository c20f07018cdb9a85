import type { ObjectsReply, RotatedKeyReply, UsageReply } from "@resontech/contracts/http-storage";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { asProblem } from "../../api/problem.ts";
import { useMay, useSession } from "../../api/session.ts";
import { countOf } from "../../ui/count-of.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { At } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { Facts, Panel, Row } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { useAction } from "../../ui/use-action.ts";
import { Field } from "../../ui/field.tsx";
import { upload } from "./upload.ts";
import { download } from "./download.ts";
import styles from "./storage.module.css";

type Entry =
  | { kind: "folder"; key: string }
  | ({ kind: "object" } & ObjectsReply["objects"][number]);

/** What fills it? */
export function StoragePage() {
  const { projects } = useSession();
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
      <Usage project={project} />
      <Folder key={`${project} ${prefix}`} project={project} prefix={prefix} />
      <KeyPair project={project} />
    </>
  );
}

/** A project's bucket is made by the first upload: until then there is nothing in it. */
async function orUnmade<T>(asked: Promise<T>, nothing: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (asProblem(error).code === "bucket_missing") return nothing;
    throw error;
  }
}

function Usage({ project }: { project: string }) {
  const usage = useQuery({
    queryKey: ["usage", project],
    queryFn: ({ signal }) =>
      orUnmade<UsageReply | null>(
        ask("GET", "/api/users/storage/usage", { project, signal }),
        null,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (usage.isPending) return <Skeleton rows={1} />;
  if (usage.isError) return <Failure error={usage.error} retry={() => void usage.refetch()} />;
  if (usage.data === null) return null;
  const { usedBytes, quotaBytes, objects } = usage.data;
  return (
    <div className={styles["usage"]}>
      <meter min={0} max={quotaBytes} value={usedBytes} aria-label="Used of the quota" />
      <span>
        {bytes(usedBytes)} of {bytes(quotaBytes)}, old versions among them ·{" "}
        {countOf(objects, "object")}
      </span>
    </div>
  );
}

function Folder({ project, prefix }: { project: string; prefix: string }) {
  const client = useQueryClient();
  const mayWrite = useMay("bucket.write");
  const queryKey = ["objects", project, prefix];
  const [leaving, setLeaving] = useState<string | null>(null);
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
  const fetchIt = useAction(async (key: string) => await download(key, project));
  const remove = useAction(async (key: string) => {
    await ask("DELETE", "/api/users/storage/objects", { query: { key }, project });
    setLeaving(null);
    await client.invalidateQueries({ queryKey });
  });
  if (folder.isPending) return <Skeleton />;
  if (folder.isError) return <Failure error={folder.error} retry={() => void folder.refetch()} />;
  const entries = folder.data.pages.flatMap((page): Entry[] => [
    ...page.folders.map((key): Entry => ({ kind: "folder", key })),
    ...page.objects.map((object): Entry => ({ kind: "object", ...object })),
  ]);
  return (
    <>
      <Crumbs project={project} prefix={prefix} />
      {fetchIt.error === null ? null : <Failure error={fetchIt.error} />}
      {entries.length === 0 ? (
        <Empty title="Nothing lies here">
          <p>
            <code>resontech storage put FILE KEY</code> uploads from a shell. The Python client
            uploads by itself.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Objects"
          rows={entries}
          keyOf={({ key }) => key}
          columns={[
            {
              title: "Name",
              of: ({ kind, key }) =>
                kind === "folder" ? (
                  <Link href={`/storage?project=${project}&at=${encodeURIComponent(key)}`}>
                    {key.slice(prefix.length)}
                  </Link>
                ) : (
                  <code>{key.slice(prefix.length)}</code>
                ),
            },
            {
              title: "Size",
              of: (entry) => (entry.kind === "object" ? bytes(entry.sizeBytes) : ""),
              isNumber: true,
            },
            {
              title: "Changed",
              of: (entry) => (entry.kind === "object" ? <At at={entry.modifiedAt} /> : ""),
            },
            {
              title: "Actions",
              of: ({ kind, key }) =>
                kind === "folder" ? null : (
                  <Row>
                    <Button aria-label={`Download ${key}`} onPress={() => fetchIt.run(key)}>
                      Download
                    </Button>
                    {mayWrite ? (
                      <Button
                        look="danger"
                        aria-label={`Remove ${key}`}
                        onPress={() => setLeaving(key)}
                      >
                        Remove
                      </Button>
                    ) : null}
                  </Row>
                ),
            },
          ]}
        />
      )}
      {folder.hasNextPage ? (
        <div>
          <Button onPress={() => void folder.fetchNextPage()}>More</Button>
        </div>
      ) : null}
      {mayWrite ? (
        <Put
          project={project}
          prefix={prefix}
          onDone={() => client.invalidateQueries({ queryKey })}
        />
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

function Put({
  project,
  prefix,
  onDone,
}: {
  project: string;
  prefix: string;
  onDone: () => Promise<void>;
}) {
  const [sent, setSent] = useState<{ name: string; done: number; size: number } | null>(null);
  const put = useAction(async (files: readonly File[]) => {
    try {
      for (const file of files) {
        setSent({ name: file.name, done: 0, size: file.size });
        await upload(`${prefix}${file.name}`, file, project, (count) =>
          setSent((before) => (before === null ? null : { ...before, done: before.done + count })),
        );
      }
    } finally {
      setSent(null);
      await onDone();
    }
  });
  return (
    <Panel title="Upload">
      <Field label="Upload files here" hint="An object of the same name gets a new version.">
        <input
          type="file"
          multiple
          disabled={put.isBusy}
          onChange={({ target }) => {
            put.run([...(target.files ?? [])]);
            target.value = "";
          }}
        />
      </Field>
      {sent === null ? null : (
        <p role="status">
          {sent.name}:{" "}
          <progress max={Math.max(1, sent.size)} value={sent.done} aria-label="Uploaded" />{" "}
          {bytes(sent.done)} of {bytes(sent.size)}
        </p>
      )}
      {put.error === null ? null : <Failure error={put.error} />}
    </Panel>
  );
}

function Crumbs({ project, prefix }: { project: string; prefix: string }) {
  const parts = prefix.split("/").filter((part) => part !== "");
  return (
    <nav aria-label="Folder" className={styles["crumbs"]}>
      <Link href={`/storage?project=${project}`}>the bucket</Link>
      {parts.map((part, at) => {
        const to = `${parts.slice(0, at + 1).join("/")}/`;
        return (
          <span key={to}>
            {" / "}
            <Link href={`/storage?project=${project}&at=${encodeURIComponent(to)}`}>{part}</Link>
          </span>
        );
      })}
    </nav>
  );
}

function KeyPair({ project }: { project: string }) {
  const [pair, setPair] = useState<RotatedKeyReply | null>(null);
  const [isAsked, setAsked] = useState(false);
  const may = useMay("bucket.key.rotate");
  const rotate = useAction(async () => {
    setPair(await ask("PATCH", "/api/users/storage/bucket/rotate-key", { project }));
    setAsked(false);
  });
  if (!may) return null;
  return (
    <Panel title="Your key pair for S3">
      <p>
        Programs that speak S3 show it. A new pair is shown once, and the one before it is refused
        at once.
      </p>
      {pair === null ? null : (
        <Facts
          facts={[
            ["Access key id", <code key="id">{pair.accessKeyId}</code>],
            ["Secret", <code key="secret">{pair.secretAccessKey}</code>],
          ]}
        />
      )}
      <div>
        <Button onPress={() => setAsked(true)}>Make a new pair</Button>
      </div>
      <Question
        title="Make a new key pair?"
        act="Make a new pair"
        isOpen={isAsked}
        isBusy={rotate.isBusy}
        onAct={() => rotate.run()}
        onClose={() => setAsked(false)}
      >
        <p>
          Programs that show the pair of before are refused at once. Those of other members are not
          touched.
        </p>
        {rotate.error === null ? null : <Failure error={rotate.error} />}
      </Question>
    </Panel>
  );
}
