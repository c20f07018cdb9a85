import { type ChildProcess, spawn } from "node:child_process";

/** Processes that keep a processor busy each, as another's work on the same machine does. */
export class BusyProcesses implements Disposable {
  readonly #children: readonly ChildProcess[];

  constructor(count: number) {
    this.#children = Array.from({ length: count }, () =>
      // Ends by itself when the run is killed: its standard input closes.
      spawn(process.execPath, ["-e", PROGRAM], { stdio: ["pipe", "ignore", "ignore"] }),
    );
  }

  get pids(): number[] {
    return this.#children.flatMap(({ pid }) => pid ?? []);
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill("SIGKILL");
  }
}

const PROGRAM = `
let isOver = false;
process.stdin.on("end", () => (isOver = true)).resume();
const turn = () => {
  for (const until = Date.now() + 100; Date.now() < until; );
  if (isOver) process.exit();
  setImmediate(turn);
};
turn();
`;
