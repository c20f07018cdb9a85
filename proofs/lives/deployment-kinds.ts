/**
 * Every kind of deployment on an installed appliance, as its documents say it is made: a predictor with a URL and a callback, embeddings, a model of the
 * hub, one with a job's checkpoint, and a customer's own container. Then what people see of them: figures, usage, metrics, pages.
 *
 *     npm run prove -- deployment-kinds
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { repository } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import { Workstation } from "@resontech/house/workstation";
import { OutsideServer } from "@resontech/house/outside-server";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { DeploymentMaker } from "./deployment-kinds/deployment-maker.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { verifyLife } from "./life/verify-life.ts";
import { CustomersPki } from "@resontech/house/customers-pki";

const WORKERS = 8;
const CALLBACK_MS = 30_000;
const BYTES = "bytes of elsewhere";

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const installed = await ProofAppliance.install(progress, undefined, { cpuWorkers: WORKERS });
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    live(installed, progress),
  );
  const { kinds, seen, page, audit } = figures;
  return {
    ok:
      Object.values(kinds).every(Boolean) &&
      Object.values(seen).every(Boolean) &&
      page.complaints.length === 0 &&
      isVerified(audit) &&
      left.length === 0,
    figures: {
      answered: Object.values(kinds).filter(Boolean).length,
      silent: Object.values(kinds).filter((answers) => !answers).length,
      ...{ ...figures, left_after_uninstall: left },
    },
  };
}

async function live(installed: ProofAppliance, progress: (line: string) => void) {
  const { appliance } = installed;
  await using stack = new AsyncDisposableStack();
  const user = await appliance.addUser("maker");
  const maker = new DeploymentMaker(user, installed);
  stack.defer(() => maker.close());
  const kinds: Record<string, boolean> = {};

  progress("a predictor, bytes behind a URL, and a callback");
  const pki = new CustomersPki(installed.folder("pki"));
  const { cert, key } = pki.leaf({ names: "DNS:localhost" });
  const outside = await OutsideServer.open({ cert: `${cert}${pki.intermediate}`, key });
  stack.use(outside);
  outside.answer = (response, { method }) => void response.end(method === "GET" ? BYTES : "");
  await appliance.command([
    ...["outbound", "allow", `localhost:${outside.port}`, "--network", "127.0.0.0/8"],
    ...["--ca-file", pki.file("root.crt")],
  ]);
  const echo = await maker.deploy(
    join(repository, "examples", "echo"),
    ...["--callback-url", outside.url("/hook")],
  );
  kinds["bytes"] = said(await echo.call("predict", { data_b64: btoa("hello") })) === "> hello";
  const url = outside.url("/cat.png");
  kinds["url"] = said(await echo.call("predict", { url })) === `> ${BYTES}`;
  for (const end = Date.now() + CALLBACK_MS; Date.now() < end; await sleep(200))
    if (outside.heard.filter(({ method }) => method === "POST").length >= 2) break;
  const posted = outside.heard.filter(({ method }) => method === "POST");
  kinds["callback"] =
    posted.length === 2 &&
    posted.every(({ body }) => said(JSON.parse(body)) !== null) &&
    posted.every(({ headers }) =>
      /^v1=[0-9a-f]{64}$/.test(String(headers["x-resontech-signature"])),
    );

  progress("embeddings");
  const embeddings = await maker.deploy(await maker.embeddingsFolder());
  const { body: vectors } = await embeddings.callV1("embeddings", {
    model: embeddings.name,
    input: ["a cat sleeps", "a kitten naps", "interest rates rise"],
  });
  const [cat, kitten, rates] = vectorsOf(vectors);
  kinds["embeddings"] =
    cat !== undefined &&
    kitten !== undefined &&
    rates !== undefined &&
    product(cat, kitten) > 2 * product(cat, rates);

  progress("a model of the hub");
  const hub = await maker.deploy(await maker.hubFolder());
  const { status: chatted, body: chat } = await hub.callV1("chat/completions", {
    ...{ model: hub.name, max_tokens: 8, temperature: 0 },
    messages: [{ role: "user", content: "Say a word." }],
  });
  kinds["hub"] = chatted === 200 && JSON.stringify(chat).includes('"content"');

  progress("a federated job, and a predictor with its checkpoint");
  const digits = await Workstation.open(user, installed.folder("digits"));
  await digits.python(["/example/make_shards.py", "--out", "/work"]);
  const job = await digits.submit((line) => progress(`  ${line}`));
  const counted = await maker.deploy(maker.checkpointFolder(job.id));
  const { body: weights } = await counted.call("predict", { data_b64: btoa("?") });
  kinds["checkpoint"] = (weights as { tensors?: number }).tensors !== undefined;
  kinds["arrays"] = /^first +F32 +\[4\]$/m.test(await maker.arraysOf(counted));

  progress("a container of the customer's own");
  const own = await maker.deploy(await maker.ownContainerFolder(appliance));
  const { status, body: place } = await own.call("place", {});
  kinds["own container"] =
    status === 200 && (place as { reached?: unknown[] }).reached?.length === 0;

  progress("what people see of them");
  const all = [echo, embeddings, hub, counted, own];
  const top = (await maker.resontech("infer", "top", "--once", "--json")).trim().split("\n");
  const usage = await maker.resontech("infer", "usage", "--json");
  const metrics = await maker.metrics();
  const seen = {
    top: all.every(({ id }) => top.some((line) => line.includes(id))),
    usage: usage.includes(hub.id) && usage.includes(embeddings.id),
    metrics: all.every(({ id }) => metrics.includes(id)),
  };
  const browser = await launchApplianceBrowser(appliance);
  stack.defer(() => browser.close());
  const person = await SignedInPerson.signIn(browser, appliance, "maker");
  const page = await onPages(
    person,
    echo.id,
    echo.key,
    all.length,
    join(repository, ".cache", "pictures"),
  );
  for (const one of all) await maker.resontech("infer", "rm", one.id);
  return { kinds, seen, page, audit: await verifyLife(installed) };
}

/** The list, one deployment, and a call from its page. */
async function onPages(
  person: SignedInPerson,
  id: string,
  key: string,
  count: number,
  pictures: string,
) {
  const { page, complaints } = person;
  await person.open("/inference");
  await page.getByRole("link", { name: "echo" }).waitFor();
  const rows = await page.getByRole("table").getByRole("row").count();
  await page.screenshot({ path: join(pictures, "kinds-list.png"), fullPage: true });
  await person.open(`/inference/jobs/${id}`);
  await page.getByText("It answers on 1 replica.").waitFor();
  await page.getByLabel("Key").fill(key);
  await page.getByRole("textbox", { name: /^Text/ }).fill("from a page");
  await page.getByRole("button", { name: "Send" }).click();
  await page.locator("#answer").getByText("> from a page").waitFor();
  await page.screenshot({ path: join(pictures, "kinds-deployment.png"), fullPage: true });
  return { rows_at_least: rows > count, complaints };
}

function said(answer: unknown): string | null {
  const body =
    answer !== null && typeof answer === "object" && "body" in answer ? answer.body : answer;
  const text = (body as { said?: string } | null)?.said;
  return text ?? null;
}

function vectorsOf(body: unknown): number[][] {
  return (
    (body as { data?: { embedding: number[] }[] }).data?.map(({ embedding }) => embedding) ?? []
  );
}

function product(one: readonly number[], other: readonly number[]): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
