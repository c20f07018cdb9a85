// Appends to a POSIX Tessera log as its readers would have it: batches of 256 or 10 ms, and says how many entries a second it made durable.
// Usage: tessera-go DIR IN_FLIGHT SECONDS ENTRY_BYTES. Prints one line of JSON.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	numbers := make([]int, 3)
	for at := range numbers {
		var err error
		if numbers[at], err = strconv.Atoi(args[1+at]); err != nil {
			return err
		}
	}
	inFlight, seconds, entryBytes := numbers[0], numbers[1], numbers[2]
	skey, _, err := note.GenerateKey(rand.Reader, "tessera.example/log")
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(skey)
	if err != nil {
		return err
	}
	driver, err := posix.New(ctx, posix.Config{Path: args[0]})
	if err != nil {
		return err
	}
	appender, shutdown, _, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithBatching(256, 10*time.Millisecond).
		WithCheckpointInterval(500*time.Millisecond))
	if err != nil {
		return err
	}
	times, startedAt := make([][]time.Duration, inFlight), time.Now()
	failures := make(chan error, inFlight)
	var group sync.WaitGroup
	for at := range inFlight {
		group.Go(func() {
			entry := make([]byte, entryBytes)
			for number := 0; time.Since(startedAt) < time.Duration(seconds)*time.Second; number++ {
				copy(entry, fmt.Appendf(nil, "%d of %d", number, at))
				addedAt := time.Now()
				if _, err := appender.Add(ctx, tessera.NewEntry(entry))(); err != nil {
					failures <- err
					return
				}
				times[at] = append(times[at], time.Since(addedAt))
			}
		})
	}
	group.Wait()
	took := time.Since(startedAt)
	select {
	case err := <-failures:
		return err
	default:
	}
	if err := shutdown(ctx); err != nil {
		return err
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"entriesPerS": float64(len(all)) / took.Seconds(),
		"p50Ms":       float64(all[len(all)/2]) / 1e6,
		"p99Ms":       float64(all[len(all)*99/100]) / 1e6,
	})
}
