import { useSyncExternalStore } from "react";
import { Button as AriaButton, type ButtonProps } from "react-aria-components";
import { auditHalt } from "../api/audit-halt.ts";
import styles from "./button.module.css";

type Look = "plain" | "main" | "danger" | "quiet";

/**
 * What would change something is off while the audit log takes no record; a banner says why.
 * @param look `main`: the one action that a page is for
 */
export function Button({
  look = "plain",
  ...props
}: Omit<ButtonProps, "className"> & { look?: Look }) {
  const isHalted = useSyncExternalStore(auditHalt.subscribe, auditHalt.isHalted);
  const isAct = look === "main" || look === "danger" || props.type === "submit";
  return (
    <AriaButton
      {...props}
      isDisabled={props.isDisabled === true || (isAct && isHalted)}
      className={`${styles["button"]} ${styles[look]}`}
    />
  );
}
