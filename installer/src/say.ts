/** One line for the operator, on standard error: standard output is for answers. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Shows bytes done of all, redrawn in place on a terminal, at most each tenth elsewhere. */
export function progressBar(verb: string): (doneBytes: number, totalBytes: number) => void {
  let shown = -1;
  return (doneBytes, totalBytes) => {
    const percent = totalBytes === 0 ? 100 : Math.floor((doneBytes * 100) / totalBytes);
    const step = process.stderr.isTTY ? percent : percent - (percent % 25);
    if (step === shown) return;
    shown = step;
    const line = `  ${verb} ${(doneBytes / 1e6).toFixed(0)} of ${(totalBytes / 1e6).toFixed(0)} MB (${percent} %)`;
    process.stderr.write(
      process.stderr.isTTY ? `\r${line}${percent === 100 ? "\n" : ""}` : `${line}\n`,
    );
  };
}
