import { StepCache } from "@resontech/airgap/step-cache";
import { DEFAULT_CACHE } from "@resontech/airgap/engines";
import { buildApps } from "@resontech/airgap/programs";
import { join } from "node:path";
import { buildOwnBundle, describeBundle } from "@resontech/house/local-appliance";
import type { Phases } from "../phases.ts";

/** What tests of engines start: a bundle of this tree, of whose making the engines, the job image and our compiled processes stay in the cache. */
export class TestBundle {
  readonly folder: string;
  readonly #programs: string;

  private constructor(folder: string, programs: string) {
    this.folder = folder;
    this.#programs = programs;
  }

  static async build(phases: Phases): Promise<TestBundle> {
    const summary = await buildOwnBundle();
    describeBundle((line) => phases.say(line), summary);
    return new TestBundle(
      summary.bundle,
      join(await buildApps(new StepCache(DEFAULT_CACHE)), "app"),
    );
  }

  /** For the tests: where they find the bundle, and our compiled processes. */
  get environment(): NodeJS.ProcessEnv {
    return { RT_TEST_BUNDLE: this.folder, RT_TEST_PROGRAMS: this.#programs };
  }
}
