/** What a report is made of. Words alone; how they look is elsewhere. */

export type Column = { title: string; width: number; font?: "bold" | "fixed"; align?: "right" };
export type Block =
  | { kind: "heading" | "paragraph" | "item" | "command"; text: string }
  | {
      kind: "table";
      columns: readonly Column[];
      hasHead: boolean;
      rows: readonly (readonly string[])[];
    };
