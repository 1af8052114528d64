package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Object is what stands on a subject of the feed; docs/feed.md explains its JSON.
type Object struct {
	Subject string          `json:"subject"`
	Version uint64          `json:"version"`
	JSON    json.RawMessage `json:"object"`
	print   uint64
	isKnown bool // Its version is one of this stream.
	isMet   bool // In the snapshot that is being read.
}

// Change has the object as it is now, or was last.
type Change struct {
	Type string `json:"type"` // added, changed or removed
	Object
}

// ledger sums up a part of the feed as checkpoints do.
type ledger struct {
	objects int
	sum     uint64
	last    uint64 // The newest message that counted here.
	since   uint64 // From this version on the sums are known.
}

// note has the sums before a message, since a checkpoint says what was so a moment ago.
type note struct {
	in       *ledger
	sequence uint64
	objects  int
	sum      uint64
	at       time.Time
}

type difference struct {
	sequence uint64
	why      string
}

// store is what a reader holds, and the proof of it. Whoever calls it holds the lock.
type store struct {
	objects     map[string]*Object
	gone        map[string]uint64 // Tombstones, as long as an older message may still come.
	ledgers     map[string]*ledger
	notes       []note
	isFollowing bool                  // Messages come in the order in which they were stored.
	waiting     map[string]checkpoint // Read while catching up, and compared at its end.
	differences map[string]difference
	verified    uint64
	mismatches  int
	onChange    func(Change)
}

func newStore(onChange func(Change)) *store {
	return &store{
		objects: map[string]*Object{}, gone: map[string]uint64{}, ledgers: map[string]*ledger{},
		waiting: map[string]checkpoint{}, differences: map[string]difference{}, onChange: onChange,
	}
}

// known is the sequence that is known of a subject; 0 for none.
func (s *store) known(subject string) uint64 {
	if held := s.objects[subject]; held != nil && held.isKnown {
		return held.Version
	}
	return s.gone[subject]
}

func (s *store) ledger(name string) *ledger {
	if s.ledgers[name] == nil {
		s.ledgers[name] = &ledger{}
	}
	return s.ledgers[name]
}

// take applies an object or tombstone and compares a checkpoint; it ignores everything else.
func (s *store) take(m message) {
	name, isObject, isCheckpoint := ledgerOf(m.subject)
	fields := decode(m.data)
	if point, ok := checkpointOf(fields, m.sequence); isCheckpoint && ok && s.isFollowing {
		s.compare(name, point, 0)
	} else if isCheckpoint && ok && m.sequence >= s.waiting[name].sequence {
		s.waiting[name] = point
	}
	if !isObject || !canBeRead(fields) {
		return
	}
	held := s.objects[m.subject]
	if held != nil {
		held.isMet = true
	}
	if m.sequence <= s.known(m.subject) {
		return
	}
	in := s.ledger(name)
	if s.isFollowing {
		s.note(note{in, m.sequence, in.objects, in.sum, time.Now()})
	}
	in.last = max(in.last, m.sequence)
	delete(s.gone, m.subject)
	if _, isGone := fields["deleted"]; isGone {
		s.gone[m.subject] = m.sequence
		s.remove(held)
		return
	}
	object := &Object{m.subject, m.sequence, bytes.Clone(m.data), fingerprint(m), true, true}
	change := "added"
	if held != nil {
		in.objects, in.sum, change = in.objects-1, in.sum^held.print, "changed"
	}
	in.objects, in.sum = in.objects+1, in.sum^object.print
	s.objects[m.subject] = object
	s.onChange(Change{change, *object})
}

func (s *store) remove(held *Object) {
	if held == nil {
		return
	}
	name, _, _ := ledgerOf(held.Subject)
	in := s.ledger(name)
	in.objects, in.sum = in.objects-1, in.sum^held.print
	delete(s.objects, held.Subject)
	s.onChange(Change{"removed", *held})
}

// note remembers for a minute, and never more than some megabytes.
func (s *store) note(now note) {
	for len(s.notes) > 0 && (len(s.notes) >= 30_000 || now.at.Sub(s.notes[0].at) > time.Minute) {
		s.notes[0].in.since = max(s.notes[0].in.since, s.notes[0].sequence)
		s.notes = s.notes[1:]
	}
	s.notes = append(s.notes, now)
}

// compare holds a checkpoint against the sums as of its version. Before that of the floor a delete
// may be forgotten with its tombstone, so a difference there says nothing.
func (s *store) compare(name string, point checkpoint, floor float64) {
	in := s.ledger(name)
	if point.version < float64(in.since) {
		return
	}
	objects, sum := in.objects, in.sum
	for _, note := range s.notes {
		if note.in == in && float64(note.sequence) > point.version {
			objects, sum = note.objects, note.sum
			break
		}
	}
	digest := fmt.Sprintf("%016x", sum)
	if float64(objects) == point.objects && digest == point.digest {
		delete(s.differences, name)
		s.verified = max(s.verified, point.sequence)
	} else if point.version >= floor {
		s.mismatches++
		why := "the checkpoint of %s at %d says %.0f objects with digest %s, but here were %d with %s"
		why = fmt.Sprintf(why, name, point.sequence, point.objects, point.digest, objects, digest)
		s.differences[name] = difference{point.sequence, why}
	}
}

// difference is the newest that no checkpoint of its ledger has taken back.
func (s *store) difference() (newest difference) {
	for _, each := range s.differences {
		if each.sequence > newest.sequence {
			newest = each
		}
	}
	return newest
}

// startCatchingUp begins to take messages in any order; to be called again for each attempt.
func (s *store) startCatchingUp() {
	s.isFollowing, s.notes = false, nil
	clear(s.waiting)
	for _, object := range s.objects {
		object.isMet = false
	}
}

// caughtUp removes what a snapshot did not have, and compares what waited.
func (s *store) caughtUp(isSnapshot bool, version uint64, floor float64) {
	for _, object := range s.objects {
		if isSnapshot && !object.isMet {
			s.remove(object)
		}
	}
	if isSnapshot {
		clear(s.differences)
	}
	for _, in := range s.ledgers {
		in.since = in.last
	}
	for name, point := range s.waiting {
		// A newer one comes live as well, after all that it sums up.
		if point.sequence <= version {
			s.compare(name, point, floor)
		}
	}
	s.isFollowing = true
}

// forget keeps objects for display. Whatever comes next is newer; of another stream, also the sums.
func (s *store) forget(isOther bool) {
	s.startCatchingUp()
	clear(s.gone)
	for _, object := range s.objects {
		object.isKnown = false
	}
	for _, in := range s.ledgers {
		in.last, in.since = 0, 0
	}
	if isOther {
		clear(s.differences)
		s.verified = 0
	}
}
