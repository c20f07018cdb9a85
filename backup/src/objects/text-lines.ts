/** Lines of a text that comes in chunks of bytes; an error of the source is thrown on, as readline would not. */
export async function* textLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let held = "";
  for await (const chunk of source) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
  held += decoder.decode();
  if (held !== "") yield held;
}
