// Command rt-verify checks the Ed25519 signature of a file, for install.sh on hosts without openssl 3.
//
//	rt-verify KEY FILE SIGNATURE
//
// KEY is a PEM file with one Ed25519 public key (SPKI), SIGNATURE the 64 bytes themselves. Exit status: 0 the signature is good, 1 it is
// not, 2 wrong usage, 3 something can't be read.
package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	exitBad        = 1
	exitUsage      = 2
	exitUnreadable = 3

	// boot.sums has a few lines.
	maxBytes = 1 << 20
)

// What stands before the 32 bytes of every Ed25519 key in DER: https://www.rfc-editor.org/rfc/rfc8410#section-4
var spkiHead = []byte{0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println("rt-verify 1")
		return
	}
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: rt-verify KEY FILE SIGNATURE")
		os.Exit(exitUsage)
	}
	key, err := readKey(os.Args[1])
	end(err)
	signed, err := read(os.Args[2])
	end(err)
	signature, err := read(os.Args[3])
	end(err)
	if len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, signed, signature) {
		os.Exit(exitBad)
	}
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "rt-verify:", err)
		os.Exit(exitUnreadable)
	}
}

func readKey(file string) (ed25519.PublicKey, error) {
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		return nil, fmt.Errorf("%s is not one public key in PEM", file)
	}
	key, isEd25519 := bytes.CutPrefix(block.Bytes, spkiHead)
	if !isEd25519 || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%s is not an Ed25519 key", file)
	}
	return key, nil
}

func read(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	if err == nil && len(content) > maxBytes {
		err = errors.New(name + " is too large")
	}
	return content, err
}
