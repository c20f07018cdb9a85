// The registry engine (distribution) with the file system as its only storage and tokens as its only door. The server around it is our own: the
// engine's has no time limit for a client that never says anything, refuses a push without a word, and knows no referrers.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	_ "github.com/distribution/distribution/v3/registry/auth/token"
	"github.com/distribution/distribution/v3/registry/handlers"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
	"github.com/sirupsen/logrus"
)

const usage = "usage: registry serve CONFIG"

const (
	// from the connection to the end of a request's head, the TLS handshake included
	headTimeout = 10 * time.Second
	idleTimeout = 60 * time.Second
	// for pulls under way when it stops
	stopTimeout = 5 * time.Second
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--help" {
		fmt.Println(usage)
		return
	}
	if len(os.Args) != 3 || os.Args[1] != "serve" {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	if err := serve(os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "registry: %v\n", err)
		os.Exit(1)
	}
}

func serve(configFile string) error {
	file, err := os.Open(configFile)
	if err != nil {
		return err
	}
	config, err := configuration.Parse(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", configFile, err)
	}
	level, err := logrus.ParseLevel(string(config.Log.Level))
	if err != nil {
		return err
	}
	logrus.SetLevel(level)

	stopping, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	server := &http.Server{
		Addr:              config.HTTP.Addr,
		Handler:           door(handlers.NewApp(context.Background(), config)),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       idleTimeout,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12,
			CipherSuites: []uint16{
				tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
				tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
				tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
			},
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServeTLS(config.HTTP.TLS.Certificate, config.HTTP.TLS.Key) }()
	select {
	case err := <-ended:
		return err
	case <-stopping.Done():
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		// what has not ended by then is cut off
		_ = server.Shutdown(ctx)
		return nil
	}
}
