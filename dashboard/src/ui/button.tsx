import { Button as AriaButton, type ButtonProps } from "react-aria-components";
import styles from "./button.module.css";

type Look = "plain" | "main" | "danger" | "quiet";

/** @param look `main`: the one action that a page is for */
export function Button({
  look = "plain",
  ...props
}: Omit<ButtonProps, "className"> & { look?: Look }) {
  return <AriaButton {...props} className={`${styles["button"]} ${styles[look]}`} />;
}
