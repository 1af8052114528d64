package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	markerSubject = "all._.feed"
	floorSubject  = "all._.floor"
)

// message is one of the feed, its subject without the prefix. Only a live one has a last.
type message struct {
	subject        string
	sequence, last uint64
	data           []byte
}

var plain = regexp.MustCompile(`[^A-Za-z0-9-]`)

// encode makes a name one token of a subject: a dot would begin another, a star match others.
func encode(name string) string {
	return plain.ReplaceAllStringFunc(name, func(char string) (token string) {
		for _, each := range []byte(char) {
			token += fmt.Sprintf("%%%02x", each)
		}
		return token
	})
}

// ledgerOf tells what stands on a subject, and in which ledger. Others are of no concern.
func ledgerOf(subject string) (ledger string, isObject, isCheckpoint bool) {
	t := strings.Split(subject, ".")
	if len(t) < 3 || t[0] != "node" && (t[0] != "all" && t[0] != "cluster" || t[1] != "_") {
		return "", false, false
	}
	return t[0] + "." + t[1], len(t) == 5, len(t) == 3 && t[2] == "checkpoint"
}

// decode takes no struct: it would fill Deleted into deleted, and hide whether a field was there.
// Bytes that are no UTF-8 would be mended, and other readers hold something else.
func decode(data []byte) (fields map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if !utf8.Valid(data) || decoder.Decode(&fields) != nil {
		return nil
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil
	}
	return fields
}

func number(value any) (float64, bool) {
	number, ok := value.(json.Number)
	float, _ := number.Float64()
	return float, ok
}

func isText(value any) bool { _, ok := value.(string); return ok }

// canBeRead decides what counts in sums, so every reader has to decide alike.
func canBeRead(fields map[string]any) bool {
	_, hasEpoch := number(fields["epoch"])
	isVersioned := hasEpoch && isText(fields["uid"]) && isText(fields["resourceVersion"])
	isNamed := fields["deleted"] == true || isText(fields["kind"]) && isText(fields["name"])
	value, hasNodes := fields["nodes"]
	nodes, isList := value.([]any)
	isBad := func(node any) bool {
		name, _ := node.(string)
		units := len(utf16.Encode([]rune(name)))
		return units < 1 || units > 253
	}
	return isVersioned && isNamed && (!hasNodes || isList && !slices.ContainsFunc(nodes, isBad))
}

type marker struct {
	id           string
	isReady      bool
	sweepSeconds float64
}

// decodeMarker answers nil for what is no marker of the format that is understood here.
func decodeMarker(data []byte) *marker {
	fields := decode(data)
	format, _ := number(fields["format"])
	id, hasID := fields["id"].(string)
	epoch, hasEpoch := number(fields["epoch"])
	if format != 1 || !hasID || !hasEpoch || epoch < 0 || epoch != float64(int64(epoch)) {
		return nil
	}
	seconds, _ := number(fields["sweepSeconds"])
	if seconds <= 0 {
		seconds = 60
	}
	return &marker{id, fields["ready"] == true, min(seconds, 86_400)}
}

// checkpoint says what a ledger held as of version. A float64 has all that JSON can say of it.
type checkpoint struct {
	sequence         uint64
	version, objects float64
	digest           string
}

func checkpointOf(fields map[string]any, sequence uint64) (checkpoint, bool) {
	_, hasEpoch := number(fields["epoch"])
	version, hasVersion := number(fields["version"])
	objects, hasObjects := number(fields["objects"])
	digest, hasDigest := fields["digest"].(string)
	// Nobody can have summed up what was not stored yet.
	isOurs := hasEpoch && hasVersion && hasObjects && hasDigest && version < float64(sequence)
	return checkpoint{sequence, version, objects, digest}, isOurs
}

func fingerprint(m message) uint64 {
	sum := sha256.Sum256(append([]byte(m.subject+"\n"), m.data...))
	return binary.BigEndian.Uint64(sum[:])
}
