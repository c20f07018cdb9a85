// The registry engine (distribution) with the file system as its only storage and tokens as its only door.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	// Traces would otherwise be sent to whatever listens on port 4318, and every failure logged.
	if err := os.Setenv("OTEL_TRACES_EXPORTER", "none"); err != nil {
		os.Exit(1)
	}
	if err := registry.RootCmd.Execute(); err != nil {
		os.Exit(1)
	}
}
