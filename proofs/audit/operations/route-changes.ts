/** Every route of the API that leaves something in the log, asked so that it would be granted. */
import { spawnSync } from "node:child_process";
import { coordinatorAt } from "@resontech/appliance/ask-coordinator";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";
import { taskOf } from "@resontech/house/task-of";
import type { Change } from "./change.ts";
import type { FirstBucket } from "./first-bucket.ts";

type Document = { paths: Record<string, Record<string, { "x-audit": { event?: string } }>> };
type Request = { path?: string; body?: unknown; authorization?: string; served?: number };
type Method = "GET" | "POST" | "PATCH" | "DELETE";

const CONTENT = "hello";
const IMAGE = "resontech/fl-cpu";

/**
 * @param name of all that is made for it: a user, a node that may join, a folder, all of them its own
 * @param job is to be cancelled; submitted from the folder of that name
 * @throws Error for a route that it knows no request for
 */
export async function routeChanges(
  { appliance, api, bucket }: { appliance: LocalAppliance; api: ApplianceApi; bucket: FirstBucket },
  name: string,
  job: { id: string; name: string },
): Promise<Change[]> {
  const document = (await api.call("GET", "/api/openapi.json")).body as Document;
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { "x-audit": audit }]) => audit.event !== undefined)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  const requests = await requestsFor({ appliance, api, bucket }, name, job);
  const known = Object.keys(requests);
  const unknown = routes.filter((route) => !known.includes(route));
  if (unknown.length > 0) throw new Error(`no request is known for ${unknown.join(", ")}`);
  return known
    .filter((route) => routes.includes(route))
    .map((route) => {
      const [method = "", declared = ""] = route.split(" ");
      const { path = declared, body, authorization, served = 200 } = requests[route] ?? {};
      return {
        name: route,
        ask: () => api.call(method as Method, path, body, authorization),
        served,
      };
    });
}

/** By route, in an order in which all of them can be granted. */
async function requestsFor(
  { appliance, api, bucket }: { appliance: LocalAppliance; api: ApplianceApi; bucket: FirstBucket },
  name: string,
  job: { id: string; name: string },
): Promise<Record<string, Request>> {
  // A user whose keys may go.
  const { platformKey } = JSON.parse(await appliance.command(["add-user", name])) as {
    platformKey: string;
  };
  const authorization = `Bearer ${platformKey}`;
  const [key] = (await api.call("GET", "/api/keys", undefined, authorization)).body as {
    id: string;
  }[];
  const { token } = JSON.parse(await appliance.command(["join-token", name])) as { token: string };
  const login = await coordinatorAt(`/run/resontech/${appliance.instance}/coordinator/control`)(
    "registry-login",
    { repository: IMAGE },
  );
  const basic = Buffer.from(`${login.username}:${login.password}`).toString("base64");
  const open = async (object: string) => {
    const opened = await api.call("POST", "/api/users/storage/upload/init", {
      key: object,
      size: CONTENT.length,
    });
    return { key: object, ...(opened.body as { uploadId: string; urls: string[] }) };
  };
  const completed = await open(`jobs/${name}/completed`);
  const { etag } = await bucket.put(completed.urls[0] ?? "", CONTENT);
  const aborted = await open(`jobs/${name}/aborted`);
  await copyWorkspace(bucket, job.name, name);
  const jobs = (await api.call("GET", "/api/customer/dashboard/jobs?limit=100")).body as {
    jobId: string;
    state: string;
  }[];
  const ended = jobs.find(
    ({ jobId, state }) => jobId !== job.id && ["FINISHED", "FAILED"].includes(state),
  );
  return {
    "GET /api/keys": {},
    "POST /api/keys": { served: 403 },
    "GET /api/users/storage/bucket": {},
    "GET /api/users/storage/usage": {},
    "GET /api/audit/events": {},
    "GET /api/audit/questions/{id}": { path: "/api/audit/questions/refused" },
    "GET /api/audit/events/{index}": { path: "/api/audit/events/0" },
    "POST /api/users/storage/upload/init": {
      body: { key: `jobs/${name}/opened`, size: CONTENT.length },
    },
    "POST /api/users/storage/upload/complete": {
      body: {
        key: completed.key,
        uploadId: completed.uploadId,
        parts: [{ PartNumber: 1, ETag: etag }],
      },
    },
    "POST /api/users/storage/upload/abort": {
      body: { key: aborted.key, uploadId: aborted.uploadId },
    },
    "POST /api/tasks": { body: taskOf(name), served: 201 },
    "POST /api/tasks/{id}/cancel": { path: `/api/tasks/${job.id}/cancel` },
    // Of one that is being cancelled 409 is the answer.
    "POST /api/tasks/{id}/resubmit": {
      path: `/api/tasks/${ended?.jobId ?? job.id}/resubmit`,
      served: ended === undefined ? 409 : 201,
    },
    "DELETE /api/tasks/{id}/outputs": {
      path: `/api/tasks/${ended?.jobId ?? job.id}/outputs`,
      served: ended === undefined ? 409 : 200,
    },
    "POST /api/nodes/join": { body: { token, csr: signingRequest(name) } },
    "GET /token": {
      path: `/token?service=registry&scope=repository:${IMAGE}:pull`,
      authorization: `Basic ${basic}`,
    },
    "PATCH /api/users/storage/bucket/rotate-key": { authorization },
    "DELETE /api/keys/{id}": { path: `/api/keys/${key?.id ?? ""}`, authorization },
  };
}

/** What a job reads, without what it has written. */
async function copyWorkspace(
  { s3, name: bucket }: FirstBucket,
  from: string,
  to: string,
): Promise<void> {
  for (const part of ["shards", "scripts", "configs", "requirements"]) {
    const prefix = `jobs/${from}/${part}/`;
    const { body } = await s3.send({
      method: "GET",
      path: [bucket],
      query: { "list-type": "2", prefix },
    });
    for (const [, key = ""] of body.toString("utf8").matchAll(/<Key>([^<]+)</g)) {
      const headers = { "x-amz-copy-source": `${bucket}/${key}` };
      await s3.send({
        method: "PUT",
        path: [bucket, key.replace(`jobs/${from}/`, `jobs/${to}/`)],
        headers,
      });
    }
  }
}

function signingRequest(node: string): string {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", "/dev/null"];
  const { status, stdout, stderr } = spawnSync(
    "openssl",
    ["req", "-nodes", "-subj", `/CN=${node}`, ...key],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return stdout;
}
