import type { OperatorAnswer } from "@resontech/contracts/operator-routes";
import type { JobLogsReply } from "@resontech/contracts/http-jobs";
import { launchBrowser } from "@resontech/house/launch-browser";
import type { Browser, BrowserContext } from "playwright-core";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import {
  goodBody,
  goodFiles,
  upload,
  uploadPredictor,
} from "@resontech/coordinator/testing/workspace";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { shippedPages } from "./shipped-pages.ts";

/** Most houses have no Prometheus. A test that wants curves answers these routes itself. */
const USE = /\/api\/(?:(?:(?:inference\/)?jobs|nodes)\/[^/]+\/)?use(?:\?|$)/;
const NOTHING_MEASURED = { fromS: 0, toS: 60, stepS: 60, keptDays: 15, series: [] };

type AddedUser = OperatorAnswer<"add-user">;

/** The coordinator with its pages behind the real front door, nodes whose agents a test drives, and a real browser. */
export class DashboardHouse implements AsyncDisposable {
  readonly running: RunningCoordinator;
  readonly #browser: Browser;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    running: RunningCoordinator,
    browser: Browser,
    cleanup: AsyncDisposableStack,
  ) {
    this.running = running;
    this.#browser = browser;
    this.#cleanup = cleanup;
  }

  /**
   * @param idleS seconds without input after which a person is signed out
   * @param gatewaySha256 of the certificate of a gateway of deployments
   * @param more what a house has that is larger than most
   */
  static async open(
    idleS?: number,
    gatewaySha256?: string,
    more: Pick<
      NonNullable<Parameters<typeof RunningCoordinator.create>[0]>,
      "prometheus" | "vault"
    > = {},
  ): Promise<DashboardHouse> {
    await using stack = new AsyncDisposableStack();
    const running = stack.use(
      await RunningCoordinator.create({
        ...{ identity: true, dashboardDir: shippedPages() },
        ...more,
        ...(idleS === undefined ? {} : { idleS }),
        ...(gatewaySha256 === undefined ? {} : { gatewaySha256 }),
      }),
    );
    const browser = await launchBrowser(running.url, running.s3.endpoint);
    stack.defer(() => browser.close());
    return new DashboardHouse(running, browser, stack.move());
  }

  addUser(username: string): Promise<AddedUser> {
    return this.running.control("add-user", { username });
  }

  /** A node with so many CPU workers. */
  async addNode(node: string, workers: number): Promise<ScriptedAgent> {
    const agent = await joinAgent(this.running, node, workers);
    this.#cleanup.defer(() => agent.close());
    return agent;
  }

  /** A federation of two sites; answers its id. */
  async submit(user: AddedUser, slug: string, more: object = {}): Promise<string> {
    const { body: bucket } = await this.running.get("/api/users/storage/bucket", user.platformKey);
    await upload(this.running.s3, String(bucket["bucketAlias"]), slug, goodFiles());
    const { status, body } = await this.running.request(
      ...(["POST", "/api/tasks", user.platformKey, { ...goodBody(slug), ...more }] as const),
    );
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body["id"] as string;
  }

  /** A predictor on one processor; answers its id and its key. */
  async deploy(user: AddedUser, slug: string): Promise<{ id: string; key: string }> {
    const { body: bucket } = await this.running.get("/api/users/storage/bucket", user.platformKey);
    await uploadPredictor(this.running.s3, String(bucket["bucketAlias"]), slug);
    const { status, body } = await this.running.request(
      ...([
        ...["POST", "/api/inference/jobs", user.platformKey],
        { name: slug, jobPath: `/inference_jobs/${slug}`, gpuModels: ["cpu"] },
      ] as [string, string, string, object]),
    );
    if (status !== 201) throw new Error(JSON.stringify(body));
    return { id: String(body["jobId"]), key: String(body["apiKey"]) };
  }

  /** Members of a job and their sites, as the list of its logs has them. */
  async membersOf(user: AddedUser, job: string): Promise<{ member: string; site: string }[]> {
    const { body } = await this.running.get(`/api/jobs/${job}/logs`, user.platformKey);
    return (body as unknown as JobLogsReply).map(({ member, site, role }) => ({
      ...{ member, site: site ?? role },
    }));
  }

  /** What a member printed, stored as its agent stores it. */
  async storeLog(user: AddedUser, job: string, member: string, text: string): Promise<void> {
    const { body: bucket } = await this.running.get("/api/users/storage/bucket", user.platformKey);
    const { store } = this.running.s3;
    const key = `logs/${job}/${member}-1.1/00000000`;
    await store.put(String(bucket["bucketAlias"]), key, text, "text/plain");
  }

  /** A window of the person, signed in just now. */
  async windowOf(
    userId: string,
    {
      roles = [],
      ...look
    }: {
      roles?: readonly ApplianceRole[];
      dark?: boolean;
      width?: number;
      height?: number;
      bypassPolicy?: boolean;
    } = {},
  ): Promise<BrowserContext> {
    const { cookie } = (await this.running.signedIn(userId, { roles })) as { cookie: string };
    const context = await this.#browser.newContext({
      ignoreHTTPSErrors: true,
      bypassCSP: look.bypassPolicy === true,
      colorScheme: look.dark === true ? "dark" : "light",
      viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    });
    context.setDefaultTimeout(120_000);
    // The appliance is asked all the same: who may not see curves is refused.
    await context.route(USE, async (route) => {
      const response = await route.fetch();
      const isAway = response.status() === 503;
      await route.fulfill(isAway ? { json: NOTHING_MEASURED } : { response });
    });
    // The store of this house has no front, which tells browsers what a page may ask of it.
    await context.route(`${this.running.s3.endpoint}/**`, async (route) => {
      const response = await route.fetch();
      const headers = {
        ...response.headers(),
        "access-control-allow-origin": this.running.url,
        "access-control-expose-headers": "ETag",
      };
      await route.fulfill({ response, headers });
    });
    await context.addCookies([
      {
        ...{ name: "__Host-rt", value: cookie.slice("__Host-rt=".length), url: this.running.url },
        ...{ secure: true, httpOnly: true, sameSite: "Lax" },
      },
    ]);
    return context;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
