/** The room of a file: a part below `parts/`, else a folder at the top; `.` for what lies in none. @param file its path in this tree */
export function roomOf(file: string): string {
  const [top = "", next, ...rest] = file.split("/");
  if (next === undefined) return ".";
  return top === "parts" && rest.length > 0 ? `${top}/${next}` : top;
}
