/** Programs of a part from this tree, compiled whenever one of their sources changes. */
import { join } from "node:path";
import { compileOptions } from "@resontech/airgap/compile-options";
import { type BuildContext, context } from "esbuild";

/** A change that touches several programs, or several files, is one change. */
const SETTLE_MS = 50;

export class WatchedPrograms implements AsyncDisposable {
  readonly #contexts: readonly BuildContext[];
  #timer: NodeJS.Timeout | undefined;

  private constructor(contexts: readonly BuildContext[]) {
    this.#contexts = contexts;
  }

  /**
   * Resolves when all are compiled; `changed` is called after each later time. What does not compile is said, by esbuild, and what runs goes on.
   * @throws Error when the sources don't compile at the start
   */
  static async start(
    programs: readonly string[],
    into: string,
    changed: () => void,
  ): Promise<WatchedPrograms> {
    const settled: { tell: () => void } = { tell: () => undefined };
    const firsts = programs.map(() => Promise.withResolvers<void>());
    const contexts = await Promise.all(
      programs.map((name, at) =>
        context({
          ...compileOptions(name, join(into, `${name}.mjs`)),
          sourcemap: true,
          plugins: [
            {
              name: "tell-changes",
              setup: (build) =>
                build.onEnd(({ errors }) => {
                  if (errors.length > 0) firsts[at]!.reject(new Error(`${name} does not compile`));
                  else settled.tell();
                  firsts[at]!.resolve();
                }),
            },
          ],
        }),
      ),
    );
    const made = new WatchedPrograms(contexts);
    try {
      // The watch begins with a build of its own.
      await Promise.all(contexts.map((one) => one.watch()));
      await Promise.all(firsts.map(({ promise }) => promise));
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    settled.tell = () => made.#settle(changed);
    return made;
  }

  #settle(changed: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(changed, SETTLE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await Promise.all(this.#contexts.map((one) => one.dispose()));
  }
}
