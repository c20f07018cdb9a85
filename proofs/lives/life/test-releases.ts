/** Bundles of releases that a proof makes of this tree or of an earlier commit, in a folder that goes with them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BundleSummary } from "@resontech/house/local-appliance";
import { ReleaseTree, type TestRelease } from "@resontech/house/release-tree";

export class TestReleases implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "rt-releases-"));

  /** This tree, as a release of its own. */
  async ofThis(name: string, release: TestRelease): Promise<BundleSummary> {
    return await this.#build(name, ReleaseTree.ofThis(this.#tree(name)).become(release));
  }

  /** It needs the history of the repository. */
  async ofCommit(name: string, commit: string): Promise<BundleSummary> {
    return await this.#build(name, ReleaseTree.ofCommit(commit, this.#tree(name)));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #tree(name: string): string {
    return join(this.folder, name);
  }

  async #build(name: string, tree: ReleaseTree): Promise<BundleSummary> {
    return await tree.build(join(this.folder, `bundle-${name}`));
  }
}
