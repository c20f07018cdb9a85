/** Which characters of the verifier's source have run, by V8's own block coverage: an input that reaches others than before is worth changing further. */
import { type Profiler, Session } from "node:inspector";

type Script = {
  ran: Uint8Array;
  /** Function that a character belongs to, the innermost. */
  owner: Int32Array;
  functions: { from: number; to: number; name: string }[];
};

export class Coverage {
  readonly #session = new Session();
  readonly #part: string;
  readonly #scripts = new Map<string, Script>();

  /** Before the code is loaded. @param part of the URL of each script that counts */
  constructor(part: string) {
    this.#part = part;
    this.#session.connect();
    this.#post("Profiler.enable");
    // Without counts a function that was told of once is not told of again.
    this.#post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /**
   * Whether anything ran since the last time that never had before; it takes milliseconds.
   * @param keeps whether it counts from now on as having run
   */
  isNew(keeps: boolean): boolean {
    const { result } = this.#post(
      "Profiler.takePreciseCoverage",
    ) as Profiler.TakePreciseCoverageReturnType;
    let added = 0;
    for (const script of result)
      if (script.url.includes(this.#part)) added += this.#note(script, keeps);
    return added > 0;
  }

  /** Of the characters that belong to functions; and functions that never ran. */
  get reached(): { part: number; never: string[] } {
    let [ran, all] = [0, 0];
    const never: string[] = [];
    for (const [url, script] of this.#scripts) {
      const byFunction = new Map<number, boolean>();
      for (const [at, owner] of script.owner.entries()) {
        if (owner < 0) continue;
        all += 1;
        ran += script.ran[at]!;
        byFunction.set(owner, byFunction.get(owner) === true || script.ran[at] === 1);
      }
      for (const [id, { name }] of script.functions.entries())
        if (byFunction.get(id) === false)
          never.push(`${url.slice(url.lastIndexOf("/") + 1)} ${name}`);
    }
    return { part: all === 0 ? 0 : ran / all, never };
  }

  #note({ url, functions }: Profiler.ScriptCoverage, keeps: boolean): number {
    const script = this.#scripts.get(url) ?? {
      ran: new Uint8Array(0),
      owner: new Int32Array(0),
      functions: [],
    };
    this.#scripts.set(url, script);
    let added = 0;
    // Outer functions come before those within them.
    for (const { functionName, ranges } of functions.toSorted(
      (a, b) => lengthOf(b) - lengthOf(a),
    )) {
      const [whole] = ranges;
      if (whole === undefined) continue;
      const id = idOf(script, whole, functionName);
      const mask = new Uint8Array(lengthOf({ ranges }));
      // So do outer ranges.
      for (const { startOffset, endOffset, count } of ranges)
        mask.fill(
          count > 0 ? 1 : 0,
          startOffset - whole.startOffset,
          endOffset - whole.startOffset,
        );
      for (let at = 0; at < mask.length; at++) {
        const place = whole.startOffset + at;
        if (mask[at] === 0 || script.owner[place] !== id || script.ran[place] === 1) continue;
        script.ran[place] = keeps ? 1 : 0;
        added += 1;
      }
    }
    return added;
  }

  #post(method: string, parameters: object = {}): unknown {
    let answer: unknown;
    // Within one process it answers before it returns.
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  }
}

/** V8 tells of a function once it has looked into it; what belonged to the function around it until then is the new one's. */
function idOf(
  script: Script,
  { startOffset, endOffset }: Profiler.CoverageRange,
  name: string,
): number {
  const known = script.functions.findIndex(
    ({ from, to }) => from === startOffset && to === endOffset,
  );
  if (known !== -1) return known;
  if (endOffset > script.ran.length) {
    const [ran, owner] = [new Uint8Array(endOffset), new Int32Array(endOffset).fill(-1)];
    ran.set(script.ran);
    owner.set(script.owner);
    Object.assign(script, { ran, owner });
  }
  const id =
    script.functions.push({ from: startOffset, to: endOffset, name: name || "(anonymous)" }) - 1;
  for (let place = startOffset; place < endOffset; place++) {
    const around = script.functions[script.owner[place]!];
    if (around !== undefined && around.to - around.from < endOffset - startOffset) continue;
    script.owner[place] = id;
    script.ran[place] = 0;
  }
  return id;
}

function lengthOf({ ranges }: Pick<Profiler.FunctionCoverage, "ranges">): number {
  return ranges[0] === undefined ? 0 : ranges[0].endOffset - ranges[0].startOffset;
}
