import { useQuery } from "@tanstack/react-query";
import { countOf } from "../count-of.ts";
import { Failure } from "../notice.tsx";
import { Skeleton } from "../skeleton.tsx";
import { type Column, Table } from "../table.tsx";
import { JsonTree } from "./json-tree.tsx";
import { type PreviewContent, type PreviewedFile, readPreview } from "./read-preview.ts";
import { elementsOf, type Tensor } from "./tensor-names.ts";
import styles from "./preview.module.css";

/** Shows a little of a file, as what it is. Each look is on record, as a download is. @param version of which file, for whoever looks again */
export function Preview({ file, version }: { file: PreviewedFile; version: readonly unknown[] }) {
  const preview = useQuery({
    queryKey: ["preview", ...version],
    // A look is on record: none is repeated by itself.
    ...{
      retry: false,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      staleTime: Infinity,
    },
    queryFn: ({ signal }) => readPreview(file, signal),
  });
  if (preview.isPending) return <Skeleton />;
  if (preview.isError)
    return <Failure error={preview.error} retry={() => void preview.refetch()} />;
  return <Shown preview={preview.data} title={file.name} />;
}

function Shown({ preview, title }: { preview: PreviewContent; title: string }) {
  switch (preview.kind) {
    case "none":
      return <p className={styles["note"]}>{preview.why} Download it to look at it.</p>;
    case "text":
      return (
        <>
          <pre className={styles["text"]} tabIndex={0} aria-label={title}>
            {preview.text}
          </pre>
          {preview.isCut ? <Cut /> : null}
        </>
      );
    case "table":
      return <Cells {...preview} title={title} />;
    case "json":
      return (
        <div className={styles["scroll"]} tabIndex={0} role="group" aria-label={title}>
          <JsonTree value={preview.value} isOpen />
        </div>
      );
    case "image":
      return <img className={styles["image"]} src={preview.url} alt={title} />;
    case "tensors":
      return <Tensors {...preview} />;
  }
}

function Cut() {
  return <p className={styles["note"]}>This is the beginning. The rest is in the download.</p>;
}

const MOST_COLUMNS = 40;

function Cells({ rows, isCut, title }: { rows: string[][]; isCut: boolean; title: string }) {
  const [head = [], ...body] = rows;
  const columns: Column<{ cells: string[]; at: number }>[] = head
    .slice(0, MOST_COLUMNS)
    .map((name, column) => ({
      // Heads of one name, or of none, are told apart by their place.
      title: name === "" || head.indexOf(name) !== column ? `${name} (${column + 1})`.trim() : name,
      of: ({ cells }) => cells[column] ?? "",
      by: ({ cells }) => sortKey(cells[column]),
    }));
  return (
    <>
      <div className={styles["scroll"]}>
        <Table
          caption={title}
          columns={columns}
          rows={body.map((cells, at) => ({ cells, at }))}
          keyOf={({ at }) => String(at)}
        />
      </div>
      <p className={styles["note"]}>
        {countOf(body.length, "row")}, {countOf(head.length, "column")}
        {isCut ? " of the beginning of the file. The rest is in the download." : "."}
      </p>
    </>
  );
}

function sortKey(cell: string | undefined): string | number | null {
  if (cell === undefined || cell.trim() === "") return null;
  const number = Number(cell);
  return Number.isNaN(number) ? cell : number;
}

const COLUMNS: Column<Tensor>[] = [
  { title: "Name", of: ({ name }) => <code>{name}</code>, by: ({ name }) => name },
  { title: "Type", of: ({ dtype }) => dtype, by: ({ dtype }) => dtype },
  { title: "Shape", of: ({ shape }) => (shape.length === 0 ? "one value" : shape.join(" × ")) },
  {
    title: "Values",
    of: (tensor) => elementsOf(tensor).toLocaleString(),
    by: elementsOf,
    isNumber: true,
  },
];

function Tensors({ tensors, isCut }: { tensors: readonly Tensor[]; isCut: boolean }) {
  if (tensors.length === 0)
    return <p className={styles["note"]}>No tensor was found. Download it to look at it.</p>;
  const all = tensors.reduce((sum, tensor) => sum + elementsOf(tensor), 0);
  return (
    <>
      <p>
        {countOf(tensors.length, "tensor")}, {all.toLocaleString()} values. Only the header was
        read.
        {isCut ? " There is more that could not be read." : ""}
      </p>
      <div className={styles["scroll"]}>
        <Table
          caption="Tensors"
          columns={COLUMNS}
          rows={tensors}
          keyOf={({ name, shape, dtype }) => `${name} ${dtype} ${shape.join(",")}`}
        />
      </div>
    </>
  );
}
