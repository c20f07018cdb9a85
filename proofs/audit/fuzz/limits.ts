/** What an input may take. */

/** Highest resident set of the program, at any size of its input: the design's figure for the verifier. */
export const MAX_PROGRAM_RSS_MIB = 256;
/** Old space of a process that judges one input after the other. */
export const WORKER_HEAP_MIB = 192;
/** Above it such a process holds more than its samples and one input. An input that takes it there is judged again by the program alone. */
export const WORKER_RSS_MIB = 512;
/** Any process is ended before it takes the machine. */
export const KILL_MIB = 1_024;
const CPU_S = 10;
const BYTES_A_SECOND = 2_097_152;

/** Seconds of CPU: what any small input may take, and as long as bytes take that are looked at one after the other. */
export function cpuLimitS(bytes: number): number {
  return CPU_S + bytes / BYTES_A_SECOND;
}
