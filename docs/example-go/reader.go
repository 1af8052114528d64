package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// State is how a reader stands. What it holds can be read in every phase, and may be old in all
// but current; also in that one while it is stale: then nobody compares the feed with the cluster.
type State struct {
	Phase    string `json:"phase"` // connecting, waiting, catching-up, current or wrong
	Version  uint64 `json:"version"`
	Verified uint64 `json:"verified"` // The newest checkpoint that agreed.
	IsStale  bool   `json:"isStale"`
	Why      string `json:"why,omitempty"`

	Snapshots  int `json:"snapshots"`
	Resumes    int `json:"resumes"`
	Gaps       int `json:"gaps"`
	Mismatches int `json:"mismatches"`
}

// Reader follows a feed. It calls OnChange and OnState under its lock: neither may call it back.
type Reader struct {
	URL, Feed, API string
	Node           string // Empty for the whole cluster.
	Options        []nats.Option
	OnChange       func(Change)
	OnState        func(State)

	mu           sync.Mutex
	store        *store
	state        State
	sweptAt      time.Time // By our clock; before any floor, when the first marker was read.
	hasFloor     bool
	staleAfter   time.Duration
	id           string
	version      uint64  // All up to here is held; 0 when only a snapshot will do.
	lastLive     uint64  // Live messages only grow.
	newestRead   uint64  // Live messages up to here may be older than what was read.
	floor        float64 // Deletes since this version can be read.
	mustSnapshot bool
	healAt       time.Time
	healed       uint64 // A checkpoint up to here is no reason for another snapshot.
	healPause    pause
}

func (r *Reader) filters() []string {
	if r.Node == "" {
		return []string{">"}
	}
	return []string{"node." + encode(r.Node) + ".>", "all._.>"}
}

// Look shows the state and all objects, which must not be changed or kept.
func (r *Reader) Look(look func(State, map[string]*Object)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	look(r.stateNow(), r.store.objects)
}

func (r *Reader) stateNow() State {
	s := r.state
	s.Version, s.Verified, s.Mismatches = r.version, r.store.verified, r.store.mismatches
	s.IsStale = r.staleAfter > 0 && time.Since(r.sweptAt) >= r.staleAfter
	if d := r.store.difference(); d.sequence > 0 && s.Phase == "current" {
		s.Phase, s.Why = "wrong", d.why
	}
	return s
}

func (r *Reader) show(phase string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Phase, r.state.Why = phase, ""
	if err != nil {
		r.state.Why = err.Error()
	}
	r.OnState(r.stateNow())
}

// pause grows from one time to the next, and differs between readers that lost the same server.
type pause struct{ first, longest, bound time.Duration }

func (p *pause) next() time.Duration {
	p.bound = min(max(2*p.bound, p.first), p.longest)
	return p.bound/10 + rand.N(p.bound)*9/10
}

// Run follows the feed until the context ends, whatever happens to it.
func (r *Reader) Run(ctx context.Context) {
	r.store = newStore(r.OnChange)
	r.healPause = pause{first: 4 * time.Second, longest: 5 * time.Minute}
	retry := pause{first: 200 * time.Millisecond, longest: 10 * time.Second}
	var l *link
	for ctx.Err() == nil {
		var err error
		isCalm := false
		if l == nil || l.IsClosed() {
			l, err = open(ctx, r)
			r.lastLive = max(r.lastLive, r.version)
		}
		if err == nil {
			isCalm, err = r.follow(l)
		}
		if l == nil || l.IsClosed() {
			r.show("connecting", err)
		} else {
			r.show("catching-up", err)
		}
		if isCalm {
			retry.bound = 0
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry.next()):
		}
	}
}

var errLost = errors.New("the connection was lost")

// follow ends when something may have been missed, and says whether it was current for a while.
func (r *Reader) follow(l *link) (isCalm bool, err error) {
	if err = r.awaitMarker(l); err == nil {
		err = r.catchUp(l)
	}
	began := time.Now()
	for isWhole := true; err == nil; {
		select {
		case <-l.lost:
			err = errors.Join(errLost, l.LastError())
		case <-r.healing():
			err = r.heal()
		case <-l.ready:
			_, isWhole, err = r.apply(l, r.version)
			if err == nil && !isWhole {
				err = errors.New("more came live than is kept")
			} else if err == nil {
				r.show("current", nil)
			}
		}
		isCalm = time.Since(began) > 2*time.Second
	}
	return isCalm, err
}

// awaitMarker waits for a feed that is whole. A marker comes live as well, or its message was lost.
func (r *Reader) awaitMarker(l *link) error {
	for wait := (pause{first: 500 * time.Millisecond, longest: 10 * time.Second}); ; {
		data, _, err := l.newest(markerSubject)
		if err != nil {
			return err
		}
		found := decodeMarker(data)
		r.mu.Lock()
		r.expectSweeps(found)
		isReady := found != nil && found.isReady
		if isReady && found.id != r.id {
			l.take() // Of the stream before, or read once more.
			r.id = found.id
			r.forget(true)
		}
		r.mu.Unlock()
		if isReady {
			return nil
		}
		l.take()
		why := "the feed is being filled"
		if found == nil {
			why = "there is no marker of format 1: no such feed, or not for this account"
		}
		r.show("waiting", errors.New(why))
		for again := time.After(wait.next()); again != nil; {
			select {
			case <-l.lost:
				return errLost
			case <-again:
				again = nil
			case <-l.ready:
				messages, _ := l.take()
				for _, m := range messages {
					if m.subject == markerSubject {
						again = nil
					}
				}
			}
		}
	}
}

func (r *Reader) catchUp(l *link) error {
	data, storedAt, err := l.newest(floorSubject)
	if err != nil {
		return err
	}
	floor, hasFloor := number(decode(data)["version"])
	if r.floor = floor; !hasFloor {
		r.floor = math.Inf(1)
	}
	r.show("catching-up", nil)
	r.mu.Lock()
	r.store.startCatchingUp()
	r.mu.Unlock()
	isSnapshot := r.mustSnapshot || r.version == 0 || float64(r.version) < r.floor
	from, reached, began := r.version+1, r.version, time.Time{}
	if isSnapshot {
		from, reached = 0, 0
	}
	for isWhole := false; !isWhole; from = reached + 1 {
		var end uint64
		if end, began, err = r.read(l, from); err == nil {
			reached, isWhole, err = r.apply(l, max(reached, end))
		}
		if err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if hasFloor && !began.IsZero() && !storedAt.IsZero() {
		r.swept(max(0, began.Sub(storedAt)))
	} else if hasFloor {
		r.swept(0)
	} else if !r.hasFloor {
		r.sweptAt = time.Now().Add(-r.staleAfter) // It has expired.
	}
	if isSnapshot {
		r.state.Snapshots++
		r.healed = reached
	} else {
		r.state.Resumes++
	}
	r.version, r.mustSnapshot = reached, false
	r.store.caughtUp(isSnapshot, reached, r.floor)
	r.state.Phase, r.state.Why = "current", ""
	r.OnState(r.stateNow())
	return nil
}

// read takes all filters. While the later ones are read the earlier ones go on: these are read once
// more, so that all are whole up to the end of any.
func (r *Reader) read(l *link, from uint64) (reached uint64, began time.Time, err error) {
	take := func(m message) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.newestRead = max(r.newestRead, m.sequence)
		r.store.take(m)
	}
	filters := r.filters()
	ends := make([]uint64, len(filters))
	for i, filter := range filters {
		if ends[i], began, err = l.read(filter, from, take); err != nil {
			return
		}
		reached = max(reached, ends[i])
	}
	for i, filter := range filters[:len(filters)-1] {
		next := from
		if ends[i] > 0 {
			next = ends[i] + 1
		}
		if _, _, err = l.read(filter, next, take); err != nil {
			return
		}
	}
	return
}

// apply takes what came live, and answers up to where all is held then.
func (r *Reader) apply(l *link, version uint64) (uint64, bool, error) {
	messages, isWhole := l.take()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range messages {
		if m.sequence <= r.lastLive {
			r.state.Gaps++
			r.forget(true)
			return 0, false, fmt.Errorf("message %d came after %d: the stream lost its end", m.sequence, r.lastLive)
		}
		known := r.store.known(m.subject)
		if m.last > version || known > 0 && m.last > known {
			r.state.Gaps++
			return version, false, fmt.Errorf("message %d before %d never came", m.last, m.sequence)
		}
		r.lastLive = m.sequence
		if m.sequence > r.newestRead {
			clear(r.store.gone)
		}
		if m.subject == markerSubject {
			found := decodeMarker(m.data)
			if found == nil || !found.isReady || found.id != r.id {
				return version, false, errors.New("the feed begins anew")
			}
			r.expectSweeps(found)
		} else if floor, ok := number(decode(m.data)["version"]); ok && m.subject == floorSubject {
			r.floor = floor
		}
		r.store.take(m)
		version = max(version, m.sequence)
		if r.store.isFollowing {
			r.version = version
		}
	}
	return version, isWhole, nil
}

// healing is due some time after a checkpoint differs: by then others may have taken it back.
func (r *Reader) healing() <-chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.store.differences) == 0 {
		r.healPause.bound = 0
	}
	if r.healAt.IsZero() && r.store.difference().sequence > r.healed {
		r.healAt = time.Now().Add(r.healPause.next())
	}
	if r.healAt.IsZero() {
		return nil
	}
	return time.After(time.Until(r.healAt))
}

func (r *Reader) heal() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.healAt = time.Time{}
	if r.store.difference().sequence <= r.healed {
		return nil
	}
	r.forget(false)
	return errors.New("a checkpoint differs")
}

// expectSweeps counts from the first marker on, so that a feed without any sweep is stale, too.
func (r *Reader) expectSweeps(m *marker) {
	if m != nil {
		r.staleAfter = time.Duration(2*m.sweepSeconds)*time.Second + time.Minute
	}
	if m != nil && r.sweptAt.IsZero() {
		r.sweptAt = time.Now()
	}
}

func (r *Reader) swept(age time.Duration) {
	if at := time.Now().Add(-age); !r.hasFloor || at.After(r.sweptAt) {
		r.sweptAt, r.hasFloor = at, true
	}
}

// heard counts the age of a floor from its arrival, also where it waits or is thrown away.
func (r *Reader) heard(m message) {
	if _, ok := number(decode(m.data)["version"]); ok && m.subject == floorSubject {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.swept(0)
	}
}

// forget makes the next catching up a snapshot.
func (r *Reader) forget(isOther bool) {
	r.version, r.mustSnapshot = 0, true
	if isOther {
		r.lastLive, r.newestRead = 0, 0
	}
	r.store.forget(isOther)
}
