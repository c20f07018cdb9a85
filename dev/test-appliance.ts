import { existsSync } from "node:fs";
import { join } from "node:path";
import { hostState } from "./host-state.ts";
import { buildBundle, describeBundle, LocalAppliance, reachableRoot, repository } from "./local-appliance.ts";
import type { Phases } from "./phases.ts";

/** The one appliance that `npm test` starts; each test makes its own user, project and bucket on it. */
export class TestAppliance {
  readonly #appliance: LocalAppliance;
  readonly #bundle: string;
  #stopped = false;

  private constructor(appliance: LocalAppliance, bundle: string) {
    this.#appliance = appliance;
    this.#bundle = bundle;
  }

  /** Builds, then installs from nothing: what an earlier, broken-off run left is removed first. */
  static async start(phases: Phases): Promise<TestAppliance> {
    const bundle = await buildBundle();
    describeBundle(phases, bundle);
    const root = reachableRoot(join(repository, ".cache", "test-appliance"), "/var/lib/resontech-test");
    const options = { instance: "test", root, portOffset: 10_000 };
    if (existsSync(join(root, "journal"))) {
      phases.say("removing what an earlier run left");
      const left = await LocalAppliance.install(bundle.bundle, options);
      await left.uninstall();
    }
    return new TestAppliance(await LocalAppliance.install(bundle.bundle, options), bundle.bundle);
  }

  /** For the tests: where the appliance and its bundle are. */
  get environment(): NodeJS.ProcessEnv {
    return { RT_TEST_APPLIANCE: this.#appliance.root, RT_TEST_BUNDLE: this.#bundle };
  }

  /** @throws when the uninstall leaves anything on this host, which is a failure of the run as any test's is */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const { root, instance } = this.#appliance;
    await this.#appliance.uninstall();
    const left = [...hostState(instance, root), ...(existsSync(root) ? [`folder ${root}`] : [])];
    if (left.length > 0) throw new Error(`uninstall left something:\n  ${left.join("\n  ")}`);
  }
}
