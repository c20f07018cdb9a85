import { missingFolders } from "@resontech/contracts/ready-folder";
import {
  type DetailedHTMLProps,
  type DragEvent,
  type InputHTMLAttributes,
  type ReactNode,
  useState,
} from "react";
import { bytes } from "../../ui/bytes.ts";
import { countOf } from "../../ui/count-of.ts";
import { Field } from "../../ui/field.tsx";
import { Failure, Warning } from "../../ui/notice.tsx";
import { useAction } from "../../ui/use-action.ts";
import { type ChosenFile, chosenFiles } from "./chosen-files.ts";
import { droppedFolder } from "./dropped-folder.ts";
import styles from "./submit.module.css";

/** Of one folder with all that is in it; every browser has the attribute, and no standard. */
const FOLDER = { webkitdirectory: "" } as DetailedHTMLProps<
  InputHTMLAttributes<HTMLInputElement>,
  HTMLInputElement
>;

/** A folder that is chosen or dragged here, and what it holds. @param isTemplate nobody chose it, so the field for that is away */
export function FolderField({
  folder,
  files,
  isTemplate,
  onChoose,
  error,
  children,
}: {
  folder: string;
  files: readonly ChosenFile[];
  isTemplate: boolean;
  onChoose: (chosen: { name: string; files: readonly ChosenFile[] }) => void;
  error: unknown;
  children: ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  const missing = missingFolders([...new Set(files.map(({ path }) => path.split("/")[0] ?? ""))]);
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  const drop = useAction(async (items: DataTransferItemList) => {
    const found = await droppedFolder(items);
    if (found !== null) onChoose(found);
  });
  const dragged = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      drop.run(event.dataTransfer.items);
    },
  };
  return (
    <div className={styles["drop"]} data-over={isOver || undefined} {...dragged}>
      {isTemplate ? null : (
        <Field label="Folder" hint="Or drag it here.">
          <input
            type="file"
            required={files.length === 0}
            {...FOLDER}
            onChange={({ target }) => onChoose(chosenFiles([...(target.files ?? [])]))}
          />
        </Field>
      )}
      {files.length === 0 ? null : missing.length > 0 ? (
        <Warning>The folder lacks {missing.map((one) => `${one}/`).join(", ")}.</Warning>
      ) : (
        <p>
          {folder}: {countOf(files.length, "file")}, {bytes(total)},{" "}
          {countOf(files.filter(({ path }) => path.startsWith("shards/")).length, "shard")}
        </p>
      )}
      {children}
      {(drop.error ?? error) === null ? null : <Failure error={drop.error ?? error} />}
    </div>
  );
}
