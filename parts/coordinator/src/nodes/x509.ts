/** The X.509 library with what it needs first: its dependency injection reads metadata that the language lacks. */
import "reflect-metadata";

export * from "@peculiar/x509";
