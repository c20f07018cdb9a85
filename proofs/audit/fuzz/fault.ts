/** What must not come of any input. `wrong`: an altered input passes, or code and program differ, or the answer is none. */
export type Fault = { what: "crash" | "hang" | "memory" | "wrong"; said: string };

export const OUT_OF_MEMORY = /heap out of memory|Array buffer allocation failed/;

export function firstLines(text: string): string {
  return text.trim().split("\n").slice(0, 6).join(" | ").slice(0, 600);
}
