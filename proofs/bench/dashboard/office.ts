/** An office with its work: the coordinator behind the real door, with its people, nodes, store, gateway and a week of figures. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { DashboardHouse } from "@resontech/dashboard/testing/dashboard-house";
import { freePort } from "@resontech/house/free-port";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import type { Look } from "./world.ts";
import type { Page } from "playwright-core";
import { keepWeek, readerIn } from "./week-of-disks.ts";

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

  /** @param workers of its node */
  static async open(progress: (line: string) => void, workers: number): Promise<Office> {
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
    const agent = await house.addNode("node-a", workers);
    await gateway.register(agent, workers);
    await agent.beat([]);
    return new Office(house, gateway, ada, agent, stack.move());
  }

  /** Where its pages begin. */
  get url(): string {
    return `${this.house.running.url}/dashboard`;
  }

  /** A page of somebody who has just signed in. */
  async page(person: OfficePerson, look: Look): Promise<Page> {
    const context = await this.house.windowOf(person.userId, look);
    return await context.newPage();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
