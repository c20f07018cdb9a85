/** Where the tasks are done: the coordinator behind the real door, with its people, nodes, store, gateway and a week of figures. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { DashboardHouse } from "@resontech/dashboard/testing/dashboard-house";
import { freePort } from "@resontech/house/free-port";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import { Visitor } from "./visitor.ts";
import { keepWeek, readerIn } from "./week-of-disks.ts";

const WINDOW = { width: 1280, height: 800 };
const LONGEST_WAIT_MS = 60_000;
/** No job waits for another. */
const WORKERS = 30;

export type OfficePerson = Awaited<ReturnType<DashboardHouse["addUser"]>>;

export class Office implements AsyncDisposable {
  readonly house: DashboardHouse;
  readonly gateway: TestGateway;
  /** Whose jobs these are. */
  readonly ada: OfficePerson;
  readonly agent: ScriptedAgent;
  readonly #cleanup: AsyncDisposableStack;

  private constructor(
    house: DashboardHouse,
    gateway: TestGateway,
    ada: OfficePerson,
    agent: ScriptedAgent,
    cleanup: AsyncDisposableStack,
  ) {
    this.house = house;
    this.gateway = gateway;
    this.ada = ada;
    this.agent = agent;
    this.#cleanup = cleanup;
  }

  static async open(progress: (line: string) => void): Promise<Office> {
    await using stack = new AsyncDisposableStack();
    const dir = mkdtempSync(join(tmpdir(), "rtp-"));
    stack.defer(() => rmSync(dir, { recursive: true, force: true }));
    const gateway = stack.use(await TestGateway.make());
    const port = await freePort();
    const house = stack.use(
      await DashboardHouse.open(undefined, gateway.certificateSha256, {
        prometheus: readerIn(dir, port),
        // Who touched a job's objects is found by values that it keeps.
        vault: true,
      }),
    );
    await gateway.open(house.running);
    stack.use(await keepWeek(house.running, dir, port));
    progress("a week of figures in Prometheus");
    await house.running.startSearch();
    const ada = await house.addUser("ada");
    const agent = await house.addNode("node-a", WORKERS);
    await gateway.register(agent, WORKERS);
    await agent.beat([]);
    return new Office(house, gateway, ada, agent, stack.move());
  }

  /** A person who has just signed in. */
  async visitor(person: OfficePerson, roles: readonly ApplianceRole[] = []): Promise<Visitor> {
    const context = await this.house.windowOf(person.userId, { roles, ...WINDOW });
    const page = await context.newPage();
    page.setDefaultTimeout(LONGEST_WAIT_MS);
    return new Visitor(page, `${this.house.running.url}/dashboard`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
