package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const markerSubject, floorSubject = "all._.feed", "all._.floor"

// message is one of the feed, its subject without the prefix. Only a live one has a last.
type message struct {
	subject        string
	sequence, last uint64
	data           []byte
}

// encode makes the name of a node or a user one token of a subject.
func encode(name string) string { return strings.ReplaceAll(name, ".", "%2e") }

// ledgerOf tells what stands on a subject, and in which ledger. Others are of no concern.
func ledgerOf(subject string) (ledger string, isObject, isCheckpoint bool) {
	t := strings.Split(subject, ".")
	if len(t) < 3 || t[0] != "node" && (t[0] != "all" && t[0] != "cluster" || t[1] != "_") {
		return "", false, false
	}
	return t[0] + "." + t[1], len(t) == 5, len(t) == 3 && t[2] == "checkpoint"
}

// decode takes no struct: that would fill Deleted into deleted, and hide whether it was there. Bytes
// that are no UTF-8 would be mended, and then other readers hold something else.
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

// markerOf answers no period for what is no marker of the format that is understood here.
func markerOf(data []byte) (id string, isReady bool, sweepSeconds float64) {
	fields := decode(data)
	format, _ := number(fields["format"])
	epoch, hasEpoch := number(fields["epoch"])
	id, hasID := fields["id"].(string)
	if format != 1 || !hasID || !hasEpoch || epoch < 0 || epoch != float64(int64(epoch)) {
		return "", false, 0
	}
	seconds, _ := number(fields["sweepSeconds"])
	if seconds <= 0 {
		seconds = 60 // An older function wrote it.
	}
	return id, fields["ready"] == true, min(seconds, 86_400)
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

// floorOf is infinite where there is none: then nobody knows which deletes are still told.
func floorOf(data []byte) (floor float64, ok bool) {
	if floor, ok = number(decode(data)["version"]); !ok {
		floor = math.Inf(1)
	}
	return floor, ok
}

func fingerprint(m message) uint64 {
	sum := sha256.Sum256(append([]byte(m.subject+"\n"), m.data...))
	return binary.BigEndian.Uint64(sum[:])
}

// Object is what stands on a subject of the feed; docs/feed.md explains its JSON.
type Object struct {
	Subject string          `json:"subject"`
	Version uint64          `json:"version"`
	JSON    json.RawMessage `json:"object"`
	print   uint64
}

// Change has the object as it is now, or was last.
type Change struct {
	Type string `json:"type"` // added, changed or removed
	*Object
}

// ledger sums up a part of the feed as checkpoints do.
type ledger struct {
	objects   int
	sum, last uint64 // The last message that counted.
}

// holdings are what one session holds, and the proof of it.
type holdings struct {
	objects  map[string]*Object
	gone     map[string]uint64 // Tombstones, as long as an older message may still come.
	ledgers  map[string]ledger
	floor    float64
	isLive   bool                  // Messages come in the order in which they were stored.
	waiting  map[string]checkpoint // Read while catching up, and compared at its end.
	differs  map[string]uint64     // Checkpoints that disagree, by ledger.
	why      string
	verified uint64
	onChange func(Change)
}

func newHoldings(onChange func(Change)) holdings {
	return holdings{onChange: onChange, objects: map[string]*Object{}, gone: map[string]uint64{},
		ledgers: map[string]ledger{}, waiting: map[string]checkpoint{},
		differs: map[string]uint64{}}
}

// known is the sequence that is known of a subject; 0 for none.
func (h *holdings) known(subject string) uint64 {
	if held := h.objects[subject]; held != nil {
		return held.Version
	}
	return h.gone[subject]
}

// apply takes an object or a tombstone and compares a checkpoint; it ignores everything else.
func (h *holdings) apply(m message) {
	name, isObject, isCheckpoint := ledgerOf(m.subject)
	fields := decode(m.data)
	if point, ok := checkpointOf(fields, m.sequence); isCheckpoint && ok && h.isLive {
		h.compare(name, point)
	} else if isCheckpoint && ok && m.sequence >= h.waiting[name].sequence {
		h.waiting[name] = point
	}
	if !isObject || !canBeRead(fields) || m.sequence <= h.known(m.subject) {
		return
	}
	in := h.ledgers[name]
	in.last = max(in.last, m.sequence)
	held, kind := h.objects[m.subject], "added"
	if held != nil {
		in.objects, in.sum, kind = in.objects-1, in.sum^held.print, "changed"
	}
	if _, isGone := fields["deleted"]; !isGone {
		held = &Object{m.subject, m.sequence, bytes.Clone(m.data), fingerprint(m)}
		h.objects[m.subject] = held
		in.objects, in.sum = in.objects+1, in.sum^held.print
		delete(h.gone, m.subject)
	} else {
		kind = "removed"
		delete(h.objects, m.subject)
		h.gone[m.subject] = m.sequence
	}
	h.ledgers[name] = in
	if h.isLive && held != nil {
		h.onChange(Change{kind, held})
	}
}

// compare holds a checkpoint against the sums, if they are those as of its version. Before that of
// the floor a delete may be forgotten with its tombstone, so a difference there says nothing.
func (h *holdings) compare(name string, point checkpoint) {
	in := h.ledgers[name]
	if point.version < float64(in.last) {
		return // The next one will do: each sweep that finds a change writes one.
	}
	if float64(in.objects) == point.objects && fmt.Sprintf("%016x", in.sum) == point.digest {
		delete(h.differs, name)
		h.verified = max(h.verified, point.sequence)
	} else if h.isLive || point.version >= h.floor {
		h.differs[name] = point.sequence
		h.why = fmt.Sprintf("%s at %d has %.0f objects with digest %s, but here are %d with %016x",
			name, point.sequence, point.objects, point.digest, in.objects, in.sum)
	}
}

// difference is the newest that no checkpoint of its ledger has taken back; 0 for none.
func (h *holdings) difference() uint64 {
	return slices.Max(append(slices.Collect(maps.Values(h.differs)), 0))
}

// caughtUp tells what differs from what was held before, and compares what waited.
func (h *holdings) caughtUp(before map[string]*Object, version uint64) {
	for subject, object := range before {
		if h.objects[subject] == nil {
			h.onChange(Change{"removed", object})
		}
	}
	for subject, object := range h.objects {
		if held := before[subject]; held == nil {
			h.onChange(Change{"added", object})
		} else if held.print != object.print {
			h.onChange(Change{"changed", object})
		}
	}
	for name, point := range h.waiting {
		if point.sequence <= version { // A newer one comes live, after what it sums up.
			h.compare(name, point)
		}
	}
	h.isLive = true
}
