import { spawn } from "node:child_process";
import { join } from "node:path";

/** A program of the release that was laid down failed; what it said stands above. */
export class NodeCommandFailedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(
    message: string,
    { code, hint }: { code: string; hint: string } = {
      code: "node_command_failed",
      hint: "see what it said above, put that right and run the same command again: it goes on from here",
    },
  ) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** Runs `appliance-node` of the release below `root`. @throws NodeCommandFailedError */
export async function nodeCommand(root: string, args: readonly string[]): Promise<void> {
  const { status } = await runRelease(root, ["appliance-node.mjs", "--root", root, ...args]);
  if (status !== 0)
    throw new NodeCommandFailedError(
      `appliance-node ${args.join(" ")} ended with ${status ?? "a signal"}`,
    );
}

/** Runs one of the release's programs; its standard error passes through, its answer is returned. */
export async function runRelease(
  root: string,
  [program = "", ...args]: readonly string[],
): Promise<{ status: number | null; answer: string }> {
  const release = join(root, "current");
  const child = spawn(join(release, "bin", "node"), [join(release, "app", program), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
  });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    answer += chunk;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, answer };
}
