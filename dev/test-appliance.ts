import { existsSync } from "node:fs";
import { join } from "node:path";
import { hostState } from "@resontech/house/host-state";
import { LocalAppliance, reachableRoot, repository } from "@resontech/house/local-appliance";
import type { Phases } from "./phases.ts";

/** The one appliance that `npm test` starts; each test makes its own user, project and bucket on it. */
export class TestAppliance {
  readonly #appliance: LocalAppliance;
  private constructor(appliance: LocalAppliance) {
    this.#appliance = appliance;
  }

  /** Installs from nothing: what an earlier, broken-off run left is removed first. @param bundle its folder */
  static async start(phases: Phases, bundle: string): Promise<TestAppliance> {
    const root = reachableRoot(
      join(repository, ".cache", "test-appliance"),
      "/var/lib/resontech-test",
    );
    const options = { instance: "test", root, portOffset: 10_000 };
    if (existsSync(join(root, "journal"))) {
      phases.say("removing what an earlier run left");
      const left = await LocalAppliance.install(bundle, options);
      await left.uninstall();
    }
    return new TestAppliance(await LocalAppliance.install(bundle, options));
  }

  /** For the tests: where the appliance is. */
  get environment(): NodeJS.ProcessEnv {
    return { RT_TEST_APPLIANCE: this.#appliance.root };
  }

  /** Uninstalls it. @throws when the uninstall leaves anything on this host, which is a failure of the run as any test's is */
  async remove(): Promise<void> {
    const { root, instance } = this.#appliance;
    await this.#appliance.uninstall();
    const left = [...hostState(instance, root), ...(existsSync(root) ? [`folder ${root}`] : [])];
    if (left.length > 0) throw new Error(`uninstall left something:\n  ${left.join("\n  ")}`);
  }
}
