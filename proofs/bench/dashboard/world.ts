/** What the figures are measured on: the large appliance, its people, and a page of each. */
import type { Page } from "playwright-core";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { DashboardHouse } from "@resontech/dashboard/testing/dashboard-house";
import { type Owner, seedLogs, seedRows } from "./seed.ts";

export type AddedUser = Awaited<ReturnType<DashboardHouse["addUser"]>>;
export type Sizes = { jobs: number; nodes: number; lines: number };
export type Look = {
  roles?: readonly ApplianceRole[];
  dark?: boolean;
  width?: number;
  height?: number;
  bypassPolicy?: boolean;
};

export class World implements AsyncDisposable {
  readonly house: DashboardHouse;
  readonly owner: AddedUser & Owner;
  readonly logBytes: number;
  readonly sizes: Sizes;

  private constructor(
    house: DashboardHouse,
    owner: AddedUser & Owner,
    logBytes: number,
    sizes: Sizes,
  ) {
    this.house = house;
    this.owner = owner;
    this.logBytes = logBytes;
    this.sizes = sizes;
  }

  static async open(sizes: Sizes, progress: (line: string) => void): Promise<World> {
    const house = await DashboardHouse.open();
    try {
      const owner = await house.addUser("ada");
      seedRows(house.running.config.databaseFile, owner, sizes);
      progress(`${sizes.jobs} jobs, ${sizes.nodes} nodes with 8 GPUs each`);
      const logBytes = await seedLogs(house.running.s3, owner.bucketAlias, sizes.lines);
      progress(`${sizes.lines} lines of logs, ${Math.round(logBytes / 1e6)} MB`);
      return new World(house, owner, logBytes, sizes);
    } catch (error) {
      await house[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return `${this.house.running.url}/dashboard`;
  }

  /** A page of a window of its own. */
  async page(userId: string, look: Look = {}): Promise<Page> {
    const context = await this.house.windowOf(userId, look);
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.house[Symbol.asyncDispose]();
  }
}
