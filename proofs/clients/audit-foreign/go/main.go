// Verifies the directory of an audit log with the transparency community's own libraries; it shares no code with the product.
// Usage: foreign LOGDIR POLICY OLD_CHECKPOINT
//
// The body and both signatures of `checkpoint` and of an older one that was kept, by the keys of the policy's log lines; every entry, tile
// and partial tile (Tessera's fsck as a library); one inclusion proof and one consistency proof. Prints one line of JSON, or why not.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/mldsa"
	"github.com/transparency-dev/formats/log"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"k8s.io/klog/v2"
)

const algMLDSA44 = 6

func main() {
	klog.LogToStderr(false) // fsck tells its progress; one line is wanted here
	klog.SetOutput(io.Discard)
	result, err := verify(context.Background(), os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}

func verify(ctx context.Context, dir, policyFile, oldFile string) (map[string]any, error) {
	policy, err := os.ReadFile(policyFile)
	if err != nil {
		return nil, err
	}
	files := strictFiles{client.FileFetcher{Root: dir}}
	raw, err := files.ReadCheckpoint(ctx)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	keys, err := keysOf(policy, strings.SplitN(string(raw), "\n", 2)[0])
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	newest, err := open(raw, keys)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	// Each worker ends with the first file that is wrong, and Check never does when none is left: more of them than files can be.
	if err := fsck.New(newest.Origin, keys[0], files, hashesOf, fsck.Opts{N: 64}).Check(ctx); err != nil {
		return nil, fmt.Errorf("fsck: %w", err)
	}
	oldRaw, err := os.ReadFile(oldFile)
	if err != nil {
		return nil, err
	}
	old, err := open(oldRaw, keys)
	if err != nil {
		return nil, fmt.Errorf("kept checkpoint: %w", err)
	}
	builder, err := client.NewProofBuilder(ctx, newest.Size, files.ReadTile)
	if err != nil {
		return nil, err
	}
	hasher := rfc6962.DefaultHasher
	path, err := builder.ConsistencyProof(ctx, old.Size, newest.Size)
	if err == nil {
		err = proof.VerifyConsistency(hasher, old.Size, newest.Size, path, old.Hash, newest.Hash)
	}
	if err != nil {
		return nil, fmt.Errorf("consistency: %w", err)
	}
	index := newest.Size / 2
	bundle, err := client.GetEntryBundle(ctx, files.ReadEntryBundle, index/256, newest.Size)
	if err != nil {
		return nil, fmt.Errorf("inclusion: %w", err)
	}
	path, err = builder.InclusionProof(ctx, index)
	if err == nil {
		leaf := hasher.HashLeaf(bundle.Entries[index%256])
		err = proof.VerifyInclusion(hasher, index, newest.Size, leaf, path, newest.Hash)
	}
	if err != nil {
		return nil, fmt.Errorf("inclusion: %w", err)
	}
	return map[string]any{"size": newest.Size, "signatures": len(keys), "inclusion": index, "consistency": old.Size}, nil
}

// open wants the signature of every key.
func open(raw []byte, keys []note.Verifier) (*log.Checkpoint, error) {
	signed, err := note.Open(raw, note.VerifierList(keys...))
	if err != nil {
		return nil, err
	}
	if len(signed.Sigs) != len(keys) {
		return nil, fmt.Errorf("%d of %d keys have signed", len(signed.Sigs), len(keys))
	}
	var checkpoint log.Checkpoint
	rest, err := checkpoint.Unmarshal([]byte(signed.Text))
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 || checkpoint.Origin != keys[0].Name() {
		return nil, errors.New("more than three lines, or of another log")
	}
	return &checkpoint, nil
}

// strictFiles wants as many entries in a bundle as its name says: fsck reads those that it needs and leaves others unseen.
type strictFiles struct{ client.FileFetcher }

func (f strictFiles) ReadEntryBundle(ctx context.Context, index uint64, partial uint8) ([]byte, error) {
	bundle, err := f.FileFetcher.ReadEntryBundle(ctx, index, partial)
	hashes, badBundle := hashesOf(bundle)
	if err == nil && badBundle == nil && len(hashes) != (int(partial)+255)%256+1 {
		return nil, fmt.Errorf("bundle %d has %d entries", index, len(hashes))
	}
	return bundle, err
}

func hashesOf(bundle []byte) ([][]byte, error) {
	var entries api.EntryBundle
	err := entries.UnmarshalText(bundle)
	var hashes [][]byte
	for _, entry := range entries.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return hashes, err
}

// keysOf reads the log lines of a tlog-policy for one origin: Ed25519 first, then ML-DSA-44.
func keysOf(policy []byte, origin string) ([]note.Verifier, error) {
	var ed25519, mldsa44 note.Verifier
	for _, line := range strings.Split(string(policy), "\n") {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "log" || !strings.HasPrefix(words[1], origin+"+") {
			continue
		}
		parts := strings.SplitN(words[1], "+", 3)
		encoded, err := base64.StdEncoding.DecodeString(parts[2])
		if err == nil && len(encoded) > 0 && encoded[0] == algMLDSA44 {
			mldsa44, err = newMLDSA(parts[0], parts[1], encoded)
		} else if err == nil {
			ed25519, err = note.NewVerifier(words[1])
		}
		if err != nil {
			return nil, err
		}
	}
	if ed25519 == nil || mldsa44 == nil {
		return nil, fmt.Errorf("%q has not both keys", origin)
	}
	return []note.Verifier{ed25519, mldsa44}, nil
}

type mldsaVerifier struct {
	name string
	hash uint32
	key  *mldsa.PublicKey
}

func newMLDSA(name, id string, encoded []byte) (note.Verifier, error) {
	sum := sha256.Sum256(append([]byte(name+"\n"), encoded...))
	hash := binary.BigEndian.Uint32(sum[:4])
	if fmt.Sprintf("%08x", hash) != id {
		return nil, errors.New("the key's id is not its own")
	}
	key, err := mldsa.NewPublicKey(mldsa.MLDSA44(), encoded[1:])
	return &mldsaVerifier{name, hash, key}, err
}

func (v *mldsaVerifier) Name() string    { return v.name }
func (v *mldsaVerifier) KeyHash() uint32 { return v.hash }

// Verify checks a timestamped signature over C2SP tlog-cosignature's cosigned_message.
func (v *mldsaVerifier) Verify(msg, sig []byte) bool {
	var c log.Checkpoint
	if rest, err := c.Unmarshal(msg); err != nil || len(rest) > 0 || len(sig) < 8 {
		return false
	}
	text := append([]byte("subtree/v1\n\x00"), byte(len(v.name)))
	text = append(append(text, v.name...), sig[:8]...)
	text = append(append(text, byte(len(c.Origin))), c.Origin...)
	text = binary.BigEndian.AppendUint64(append(text, make([]byte, 8)...), c.Size)
	return mldsa.Verify(v.key, append(text, c.Hash...), sig[8:], nil) == nil
}
