/** Rows of a CSV file (RFC 4180), or of one with tabs. Pure. */

/** @param isCut the text ends somewhere: its last row may be half of one @param most rows that are wanted, the head among them */
export function tableRows(
  text: string,
  separator: string,
  isCut: boolean,
  most: number,
): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
  };
  const endRow = () => {
    endCell();
    rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length && rows.length < most; at++) {
    const letter = text[at]!;
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (letter === '"' && cell === "") isQuoted = true;
    else if (letter === separator) endCell();
    else if (letter === "\n") endRow();
    else if (letter !== "\r") cell += letter;
  }
  if (!isCut && rows.length < most && (cell !== "" || row.length > 0)) endRow();
  return rows;
}
