/**
 * Names and shapes of a PyTorch checkpoint's `data.pkl`. The pickle is read as data: nothing that it names is imported or called, so whatever stands in
 * it does nothing. Pure.
 */
import type { Tensor } from "./tensor-names.ts";

/** What a name stands for, with what it was called with. */
type Call = { global: string; args: unknown; state?: unknown };
type Found = { tensors: Tensor[] /** Not all of it could be read. */; isCut: boolean };

const MARK = Symbol("mark");
/** Deeper is no model. */
const MOST_DEPTH = 32;
const MOST_TENSORS = 20_000;

export function torchTensors(pickle: Uint8Array): Found {
  const { value, isCut } = readPickle(pickle);
  const tensors: Tensor[] = [];
  collect(value, "", 0, tensors, new Set());
  return { tensors, isCut: isCut || tensors.length >= MOST_TENSORS };
}

function collect(
  value: unknown,
  name: string,
  depth: number,
  tensors: Tensor[],
  seen: Set<unknown>,
): void {
  if (
    depth > MOST_DEPTH ||
    tensors.length >= MOST_TENSORS ||
    typeof value !== "object" ||
    value === null
  )
    return;
  const tensor = isCall(value) ? tensorOf(value, name) : null;
  if (tensor !== null) return void tensors.push(tensor);
  if (seen.has(value)) return;
  seen.add(value);
  const below = (key: unknown) => (name === "" ? String(key) : `${name}.${String(key)}`);
  const entries = value instanceof Map ? value : Array.isArray(value) ? value.entries() : null;
  if (entries !== null)
    for (const [key, one] of entries) collect(one, below(key), depth + 1, tensors, seen);
  else if (isCall(value)) {
    // An ordered dictionary, a parameter around a tensor, an object with its fields.
    collect(value.state, name, depth + 1, tensors, seen);
    if (Array.isArray(value.args))
      for (const one of value.args) collect(one, name, depth + 1, tensors, seen);
  }
}

function tensorOf({ global, args }: Call, name: string): Tensor | null {
  if (!global.startsWith("torch._utils _rebuild_tensor") || !Array.isArray(args)) return null;
  const [storage, , shape] = args as unknown[];
  const kind = Array.isArray(storage) && isCall(storage[1]) ? storage[1].global : "";
  const dtype = kind
    .replace(/^\S+ /, "")
    .replace(/Storage$/, "")
    .toLowerCase();
  const sizes = Array.isArray(shape) ? shape.map(Number) : [];
  return { name, dtype: dtype === "" ? "unknown" : dtype, shape: sizes };
}

function isCall(value: unknown): value is Call {
  return typeof value === "object" && value !== null && "global" in value;
}

/** Builds what the pickle describes of plain values. */
function readPickle(bytes: Uint8Array): { value: unknown; isCut: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const stack: unknown[] = [];
  const memo: unknown[] = [];
  let at = 0;
  const take = (length: number) => bytes.subarray(at, (at += length));
  const text = (length: number) => new TextDecoder().decode(take(length));
  const line = () => {
    const end = bytes.indexOf(10, at);
    if (end < 0) throw new RangeError("a name has no end");
    const said = new TextDecoder().decode(bytes.subarray(at, end));
    at = end + 1;
    return said;
  };
  const number = (length: 1 | 2 | 4 | 8) => {
    const from = at;
    at += length;
    if (length === 1) return view.getUint8(from);
    if (length === 2) return view.getUint16(from, true);
    if (length === 4) return view.getUint32(from, true);
    return Number(view.getBigUint64(from, true));
  };
  const sinceMark = () => stack.splice(stack.lastIndexOf(MARK)).slice(1);
  const set = (pairs: unknown[]) => {
    const target = stack.at(-1);
    const map = target instanceof Map ? target : isCall(target) ? stateMap(target) : null;
    for (let pair = 0; pair + 1 < pairs.length; pair += 2) map?.set(pairs[pair], pairs[pair + 1]);
  };
  const add = (values: unknown[]) => {
    const target = stack.at(-1);
    if (Array.isArray(target)) target.push(...values);
  };
  try {
    while (at < bytes.length) {
      const code = String.fromCharCode(bytes[at++]!);
      switch (code) {
        case "\x80":
          at += 1;
          break;
        case "\x95":
          at += 8;
          break;
        case "(":
          stack.push(MARK);
          break;
        case "}":
          stack.push(new Map());
          break;
        case "]":
        case ")":
        case "\x8f":
          stack.push([]);
          break;
        case "t":
        case "l":
        case "\x91":
          stack.push(sinceMark());
          break;
        case "d": {
          const pairs = sinceMark();
          stack.push(new Map());
          set(pairs);
          break;
        }
        case "\x85":
        case "\x86":
        case "\x87":
          stack.push(stack.splice(-(code.charCodeAt(0) - 0x84)));
          break;
        case "X":
        case "T":
        case "B":
          stack.push(text(number(4)));
          break;
        case "\x8c":
        case "U":
        case "C":
          stack.push(text(number(1)));
          break;
        case "\x8d":
        case "\x8e":
          stack.push(text(number(8)));
          break;
        case "J":
          stack.push(view.getInt32(at, true));
          at += 4;
          break;
        case "K":
          stack.push(number(1));
          break;
        case "M":
          stack.push(number(2));
          break;
        case "\x8a":
          stack.push(longOf(take(number(1))));
          break;
        case "G":
          stack.push(view.getFloat64(at));
          at += 8;
          break;
        case "\x88":
        case "\x89":
          stack.push(code === "\x88");
          break;
        case "N":
          stack.push(null);
          break;
        case "c":
          stack.push({ global: `${line()} ${line()}`, args: null });
          break;
        case "\x93": {
          const [module, name] = stack.splice(-2);
          stack.push({ global: `${String(module)} ${String(name)}`, args: null });
          break;
        }
        case "R":
        case "\x81": {
          const [called, args] = stack.splice(-2);
          const global = isCall(called) ? called.global : "";
          stack.push(global === "collections OrderedDict" ? new Map() : { global, args });
          break;
        }
        case "b": {
          const state = stack.pop();
          const target = stack.at(-1);
          if (isCall(target)) target.state = state;
          break;
        }
        case "Q":
          // A storage: what kind, and where it lies in the zip.
          break;
        case "s":
          set(stack.splice(-2));
          break;
        case "u":
          set(sinceMark());
          break;
        case "a":
          add([stack.pop()]);
          break;
        case "e":
        case "\x90":
          add(sinceMark());
          break;
        case "q":
          memo[number(1)] = stack.at(-1);
          break;
        case "r":
          memo[number(4)] = stack.at(-1);
          break;
        case "\x94":
          memo.push(stack.at(-1));
          break;
        case "h":
          stack.push(memo[number(1)]);
          break;
        case "j":
          stack.push(memo[number(4)]);
          break;
        case "0":
          stack.pop();
          break;
        case "1":
          sinceMark();
          break;
        case "2":
          stack.push(stack.at(-1));
          break;
        case ".":
          return { value: stack.pop(), isCut: false };
        default:
          return { value: stack.findLast((one) => one instanceof Map), isCut: true };
      }
    }
  } catch {
    // It ends in the middle of something.
  }
  return { value: stack.find((one) => one instanceof Map), isCut: true };
}

function stateMap(call: Call): Map<unknown, unknown> {
  if (!(call.state instanceof Map)) call.state = new Map();
  return call.state as Map<unknown, unknown>;
}

/** Little-endian, two's complement. */
function longOf(bytes: Uint8Array): number {
  let value = 0n;
  for (const [at, byte] of bytes.entries()) value |= BigInt(byte) << BigInt(8 * at);
  const bits = BigInt(8 * bytes.length);
  return Number(bits > 0n && value >> (bits - 1n) === 1n ? value - (1n << bits) : value);
}
