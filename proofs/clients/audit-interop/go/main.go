// Checks a tiled log with Go's own transparency-log packages: the note by sumdb/note, the tree by sumdb/tlog.
// Usage: audit-interop LOGDIR VKEY; prints "OK <size>".
package main

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if err := check(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(logDir, vkey string) error {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return err
	}
	signed, err := os.ReadFile(filepath.Join(logDir, "checkpoint"))
	if err != nil {
		return err
	}
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(opened.Text, "\n"), "\n")
	if len(lines) != 3 || lines[0] != verifier.Name() {
		return fmt.Errorf("checkpoint of %d lines for %q", len(lines), lines[0])
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil {
		return err
	}
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes := make([]tlog.Hash, len(indexes))
		for at, index := range indexes {
			hashes[at] = stored[index]
		}
		return hashes, nil
	})
	for n := int64(0); n < size; {
		entries, err := readBundle(logDir, n/256, min(256, size-n))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			added, err := tlog.StoredHashes(n, entry, reader)
			if err != nil {
				return err
			}
			stored = append(stored, added...)
			n++
		}
	}
	computed, err := tlog.TreeHash(size, reader)
	if err != nil {
		return err
	}
	if string(computed[:]) != string(root) {
		return fmt.Errorf("root of the entries is %v", computed)
	}
	// The hash tiles, too, must be what Go's own tile code makes of the same tree.
	for _, tile := range tlog.NewTiles(8, 0, size) {
		want, err := tlog.ReadTileData(tile, reader)
		if err != nil {
			return err
		}
		got, err := readTile(logDir, tile)
		if err != nil {
			return err
		}
		if string(got) != string(want) {
			return fmt.Errorf("%s differs", tile.Path())
		}
	}
	fmt.Println("OK", size)
	return nil
}

func readTile(logDir string, tile tlog.Tile) ([]byte, error) {
	// "tile/8/<L>/<N>[.p/<W>]" there, "tile/<L>/<N>[.p/<W>]" in tlog-tiles.
	path := filepath.Join(logDir, strings.Replace(tile.Path(), "tile/8/", "tile/", 1))
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		// A full tile replaces its partial ones.
		full, _, _ := strings.Cut(path, ".p/")
		if data, err = os.ReadFile(full); err == nil {
			data = data[:tile.W*tlog.HashSize]
		}
	}
	return data, err
}

func readBundle(logDir string, n, width int64) ([][]byte, error) {
	tile := tlog.Tile{H: 8, L: -1, N: n, W: int(width)}
	path := filepath.Join(logDir, strings.Replace(tile.Path(), "tile/8/data/", "tile/entries/", 1))
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var entries [][]byte
	for len(data) > 0 {
		if len(data) < 2 || len(data) < 2+int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("%s ends within an entry", path)
		}
		length := int(binary.BigEndian.Uint16(data))
		entries = append(entries, data[2:2+length])
		data = data[2+length:]
	}
	if int64(len(entries)) != width {
		return nil, fmt.Errorf("%s has %d entries", path, len(entries))
	}
	return entries, nil
}
