import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Button } from "./button.tsx";
import styles from "./question.module.css";

/** Asks before something happens that can't be taken back, and says what is kept. */
export function Question({
  title,
  children,
  act,
  look = "danger",
  isOpen,
  isBusy,
  isReady = true,
  onAct,
  onClose,
}: {
  title: string;
  children: ReactNode;
  /** The words of the button that does it. */
  act: string;
  look?: "danger" | "main";
  isOpen: boolean;
  isBusy: boolean;
  /** False: something is still to be filled in. */
  isReady?: boolean;
  onAct: () => void;
  onClose: () => void;
}) {
  return (
    <ModalOverlay
      className={styles["overlay"] ?? ""}
      isOpen={isOpen}
      isDismissable={!isBusy}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className={styles["modal"] ?? ""}>
        <Dialog role="alertdialog" className={styles["dialog"] ?? ""}>
          <Heading slot="title" className={styles["title"] ?? ""}>
            {title}
          </Heading>
          {children}
          <div className={styles["actions"]}>
            <Button onPress={onClose} isDisabled={isBusy}>
              Back
            </Button>
            <Button look={look} onPress={onAct} isDisabled={isBusy || !isReady}>
              {act}
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
