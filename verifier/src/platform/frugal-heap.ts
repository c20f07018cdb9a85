/**
 * The runtime's heap may grow to many times what is held before anything is thrown away, as far as the machine's memory goes. The verifier's is kept near
 * to what it holds: by Node's own means to set what else stands on its command line, which an auditor would have to know.
 */
import { setFlagsFromString } from "node:v8";

export function keepHeapSmall(): void {
  // What is thrown away at once: it begins with a MiB.
  setFlagsFromString("--semi-space-growth-factor=1");
  // What has lived longer: it is looked through when it has grown by so much.
  setFlagsFromString("--heap-growing-percent=20");
}
