import { type ReactNode, useRef } from "react";
import { Button } from "../../ui/button.tsx";

/** A button that opens the browser's own choice of files. */
export function ChooseFiles({
  label,
  isMany = false,
  onFiles,
  children,
}: {
  label: string;
  isMany?: boolean;
  onFiles: (files: File[]) => void;
  children: ReactNode;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button aria-label={label} onPress={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple={isMany}
        aria-label={`${label}: choose`}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again.
          target.value = "";
        }}
      />
    </>
  );
}
