// Appends to a POSIX Tessera log that publishes no checkpoint without the policy's witnesses, and opens each published one with their keys.
// Usage: witness-go LOGDIR POLICY ROUNDS, the log's signing key in LOG_KEY; without arguments it makes a key pair: prints it on two lines.
// Prints one line of JSON.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	fnote "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/tessera"
	"github.com/transparency-dev/tessera/storage/posix"
	"golang.org/x/mod/sumdb/note"
)

const origin = "tessera.example/log"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) == 1 {
		skey, vkey, err := note.GenerateKey(rand.Reader, origin)
		fmt.Printf("%s\n%s\n", skey, vkey)
		return err
	}
	rounds, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	policy, err := os.ReadFile(os.Args[2])
	if err != nil {
		return err
	}
	signer, err := note.NewSigner(os.Getenv("LOG_KEY"))
	if err != nil {
		return err
	}
	verifiers, err := verifiersOf(policy)
	if err != nil {
		return err
	}
	group, err := tessera.NewWitnessGroupFromPolicy(policy)
	if err != nil {
		return err
	}
	driver, err := posix.New(ctx, posix.Config{Path: os.Args[1]})
	if err != nil {
		return err
	}
	appender, shutdown, reader, err := tessera.NewAppender(ctx, driver, tessera.NewAppendOptions().
		WithCheckpointSigner(signer).
		WithBatching(64, 10*time.Millisecond).
		WithCheckpointInterval(100*time.Millisecond).
		WithWitnesses(group, &tessera.WitnessOptions{Timeout: 5 * time.Second}))
	if err != nil {
		return err
	}
	awaiter := tessera.NewPublicationAwaiter(ctx, reader.ReadCheckpoint, 20*time.Millisecond)
	cosigned, size := map[string]bool{}, ""
	for round := range rounds {
		// Not a round number at a time: checkpoints of all kinds of sizes.
		var last tessera.IndexFuture
		for n := range 1 + round*7%90 {
			last = appender.Add(ctx, tessera.NewEntry(fmt.Appendf(nil, "entry %d of round %d", n, round)))
		}
		_, checkpoint, err := awaiter.Await(ctx, last)
		if err != nil {
			return err
		}
		opened, err := note.Open(checkpoint, verifiers)
		if err != nil {
			return err
		}
		if len(opened.Sigs) != 2 {
			return fmt.Errorf("a checkpoint with %d known signatures was published", len(opened.Sigs))
		}
		size = strings.Split(opened.Text, "\n")[1]
		cosigned[size] = true
	}
	if err := shutdown(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"cosigned": len(cosigned), "size": size})
}

// The log's own key and its witnesses', as the policy has them.
func verifiersOf(policy []byte) (note.Verifiers, error) {
	var verifiers []note.Verifier
	for _, line := range strings.Split(string(policy), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "log":
			verifier, err := note.NewVerifier(words[1])
			if err != nil {
				return nil, err
			}
			verifiers = append(verifiers, verifier)
		case len(words) > 2 && words[0] == "witness":
			verifier, err := fnote.NewVerifierForCosignatureV1(words[2])
			if err != nil {
				return nil, err
			}
			verifiers = append(verifiers, verifier)
		}
	}
	return note.VerifierList(verifiers...), nil
}
