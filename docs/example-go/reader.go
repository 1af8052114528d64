package main

import (
	"context"
	crypto "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// State is how a reader stands. What it holds can be read in every phase, and may be old in all
// but current; also in that one while it is stale: then nobody compares the feed with the cluster.
type State struct {
	Type      string `json:"type"`
	Phase     string `json:"phase"` // connecting, waiting, catching-up, current or wrong
	Why       string `json:"why,omitempty"`
	IsStale   bool   `json:"isStale"`
	Version   uint64 `json:"version"`
	Verified  uint64 `json:"verified"` // The newest checkpoint that agreed.
	Snapshots int    `json:"snapshots"`
}

// Reader follows a feed. All of it happens in Run, which calls the functions that it was given. It
// takes the snapshot after each interruption; feed.md says how one of thousands had better resume.
type Reader struct {
	URL, Feed, API string
	Node           string // Empty for the whole cluster.
	Options        []nats.Option
	OnChange       func(Change)
	OnState        func(State)

	state, told State
	held        map[string]*Object
	healed      uint64 // A checkpoint up to here is no reason for another snapshot.
	healPause   pause
	sweptAt     time.Time // By our clock; before any floor, when the first marker was read.
	hasFloor    bool
	staleAfter  time.Duration
}

func (r *Reader) filters() []string {
	if r.Node == "" {
		return []string{">"}
	}
	return []string{"node." + encode(r.Node) + ".>", "all._.>"}
}

// pause grows from one time to the next, and differs between readers that lost the same server.
type pause struct{ first, longest, bound time.Duration }

func (p *pause) next() time.Duration {
	p.bound = min(max(2*p.bound, p.first), p.longest)
	return p.bound/10 + rand.N(p.bound)*9/10
}

func (r *Reader) show(phase, why string) {
	isStale := r.staleAfter > 0 && time.Since(r.sweptAt) >= r.staleAfter
	r.state.Type, r.state.Phase, r.state.Why, r.state.IsStale = "state", phase, why, isStale
	if r.state != r.told {
		r.told = r.state
		r.OnState(r.state)
	}
}

const answerWithin = 5 * time.Second

// session is one connection, from its snapshot until something may have been missed. It never
// reconnects: nobody is to take what came before and after a cut for an unbroken run.
type session struct {
	*nats.Conn
	holdings
	feed, api     string
	lost          chan struct{}
	ready, marked chan struct{} // Have something when a message came, and when it was a marker.
	mu            sync.Mutex
	kept          []message
	bytes         int
	isFull        bool
	floorAt       time.Time // When the last floor came, whatever became of it.
	lastLive      uint64    // Live messages only grow.
	newestRead    uint64    // Live ones up to here may be older than what was read.
}

// interruption is what ends a session. It is thrown, since all that can happen ends it alike.
type interruption struct{ error }

func require(ok bool, format string, values ...any) {
	if !ok {
		panic(interruption{fmt.Errorf(format, values...)})
	}
}

func check(err error) { require(err == nil, "%w", err) }

// subscribe answers when the server has taken it: all live messages from then on are kept.
func (s *session) subscribe(url string, filters []string, options []nats.Option) {
	refused := func(nc *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			nc.Close() // Otherwise nothing would come, and nobody would know why.
		}
	}
	conn, err := nats.Connect(url, append(options, nats.NoReconnect(), nats.ErrorHandler(refused),
		nats.PingInterval(10*time.Second), nats.ClosedHandler(func(*nats.Conn) { close(s.lost) }))...)
	check(err)
	s.Conn = conn
	live := make(chan *nats.Msg, 1_024) // One for all filters, which keeps the order.
	var subs []*nats.Subscription
	for _, filter := range filters {
		sub, err := s.ChanSubscribe("ballast-live."+s.feed+"."+filter, live)
		check(err)
		subs = append(subs, sub)
	}
	go s.receive(live, subs)
	check(s.FlushTimeout(answerWithin))
	check(s.LastError()) // A server that refuses a subscription says so before it answers.
}

func (s *session) receive(live chan *nats.Msg, subs []*nats.Subscription) {
	defer s.Close()
	dropped := func(sub *nats.Subscription) bool { n, _ := sub.Dropped(); return n != 0 }
	for {
		select {
		case <-s.lost:
			return
		case m := <-live:
			if slices.ContainsFunc(subs, dropped) {
				return // One before this is missing.
			}
			s.keep(m)
		}
	}
}

// keep holds an unbroken run within bounds; what comes after it has to be read from the stream. It
// refuses what the stream did not tell: users can have answers sent to live subjects, but these lack
// Nats-Last-Sequence, or name a subject on which they did not arrive.
func (s *session) keep(m *nats.Msg) {
	subject := strings.TrimPrefix(m.Subject, "ballast-live."+s.feed+".")
	sequence, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 53)
	last, lastErr := strconv.ParseUint(m.Header.Get("Nats-Last-Sequence"), 10, 53)
	if err != nil || lastErr != nil || m.Header.Get("Nats-Stream") != "ballast-"+s.feed ||
		m.Header.Get("Nats-Subject") != "ballast."+s.feed+"."+subject {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isFull = s.isFull || len(s.kept) >= 20_000 || s.bytes >= 16<<20
	if !s.isFull {
		s.kept = append(s.kept, message{subject, sequence, last, m.Data})
		s.bytes += len(m.Data)
	}
	tell(s.ready)
	if _, isFloor := floorOf(m.Data); subject == markerSubject {
		tell(s.marked)
	} else if isFloor && subject == floorSubject {
		s.floorAt = time.Now()
	}
}

func tell(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

func (s *session) take() (messages []message, isWhole bool, floorAt time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages, isWhole = s.kept, !s.isFull
	s.kept, s.bytes, s.isFull = nil, 0, false
	return messages, isWhole, s.floorAt
}

// newest answers what is stored on a subject, and when it was; nothing where there is none.
func (s *session) newest(subject string) (data []byte, at time.Time) {
	api := fmt.Sprintf("%s.DIRECT.GET.ballast-%s.ballast.%[2]s.%s", s.api, s.feed, subject)
	m, err := s.Request(api, nil, answerWithin)
	if errors.Is(err, nats.ErrNoResponders) || err == nil && m.Header.Get("Status") != "" {
		return nil, at
	}
	require(err == nil, "%s: %w", api, err)
	at, _ = time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
	return m.Data, at
}

// read applies all under a filter: from a sequence on, or for 0 the newest message of each subject.
// It answers the last sequence, and the server's time at its beginning.
func (s *session) read(filter string, from uint64) (end uint64, began time.Time) {
	stream, name := "ballast-"+s.feed, crypto.Text() // Whoever knew the name could take the messages.
	policy := `"last_per_subject"`
	if from > 0 {
		policy = fmt.Sprintf(`"by_start_sequence","opt_start_seq":%d`, from)
	}
	filter = "ballast." + s.feed + "." + filter
	body := fmt.Sprintf(`{"stream_name":%q,"config":{"name":%q,"filter_subject":%q,"deliver_policy":%s,`+
		`"ack_policy":"none","replay_policy":"instant","mem_storage":true,"num_replicas":1,`+
		`"inactive_threshold":10000000000}}`, stream, name, filter, policy)
	api := fmt.Sprintf("%s.CONSUMER.CREATE.%s.%s.%s", s.api, stream, name, filter)
	m, err := s.Request(api, []byte(body), answerWithin)
	require(err == nil, "%s: %w", api, err)
	var made struct {
		Name    string
		Pending *uint64 `json:"num_pending"`
		Created time.Time
	}
	err = json.Unmarshal(m.Data, &made)
	require(err == nil && made.Name == name && made.Pending != nil, "%s: refused: %s", api, m.Data)
	for left := *made.Pending; left > 0; {
		left = s.page(s.api+".CONSUMER.MSG.NEXT."+stream+"."+name, &end)
	}
	s.newestRead = max(s.newestRead, end)
	return end, made.Created
}

// page asks for no more than is applied before the next one, and answers how many are left.
func (s *session) page(api string, end *uint64) (left uint64) {
	// An inbox of its own: a late status is not to be taken for the answer to the next page.
	sub, err := s.SubscribeSync(s.NewInbox())
	check(err)
	defer sub.Unsubscribe()
	const batch = 1_000
	// The largest message has to fit, with its headers.
	body := fmt.Sprintf(`{"batch":%d,"max_bytes":%d,"no_wait":true}`, batch, s.MaxPayload()+65_536)
	check(s.PublishRequest(api, sub.Subject, []byte(body)))
	for received := 0; received < batch; received++ {
		m, err := sub.NextMsg(answerWithin)
		require(err == nil, "%s: %w", api, err)
		status := m.Header.Get("Status")
		if status == "404" {
			return 0
		} else if received > 0 && (status == "408" || status == "409") {
			return left
		}
		place, err := m.Metadata()
		subject, isStored := strings.CutPrefix(m.Subject, "ballast."+s.feed+".")
		require(err == nil && isStored, "%s: answered with status %q, from %q", api, status, m.Reply)
		*end, left = max(*end, place.Sequence.Stream), place.NumPending
		s.apply(message{subject, place.Sequence.Stream, 0, m.Data})
		if left == 0 {
			break
		}
	}
	return left
}

// Run follows the feed until the context ends, whatever happens to it.
func (r *Reader) Run(ctx context.Context) {
	r.healPause = pause{first: 4 * time.Second, longest: 5 * time.Minute}
	retry := pause{first: 200 * time.Millisecond, longest: 10 * time.Second}
	for ctx.Err() == nil {
		isCalm, err := r.follow(ctx)
		if isCalm {
			retry.bound = 0
		}
		r.show("connecting", err.Error())
		select {
		case <-ctx.Done():
		case <-time.After(retry.next()):
		}
	}
}

// follow is one session. It says whether that was current for a while, and what ended it.
func (r *Reader) follow(ctx context.Context) (isCalm bool, err error) {
	s := &session{feed: r.Feed, api: r.API, holdings: newHoldings(r.OnChange), lost: make(chan struct{}),
		ready: make(chan struct{}, 1), marked: make(chan struct{}, 1)}
	defer func() {
		if s.Conn != nil {
			s.Close()
		}
		thrown := recover()
		if interrupted, ok := thrown.(interruption); ok {
			err = interrupted.error
		} else {
			panic(thrown) // A mistake of ours.
		}
	}()
	s.subscribe(r.URL, r.filters(), r.Options)
	defer context.AfterFunc(ctx, s.Close)()
	id := r.awaitMarker(s)
	version := r.catchUp(s, id)
	began, healAt := time.Now(), time.Time{}
	for isWhole := true; ; isCalm = time.Since(began) > 2*time.Second {
		r.state.Version, r.state.Verified = version, s.verified
		differs, most := s.difference(), time.Hour
		if differs == 0 {
			r.show("current", "")
			r.healPause.bound = 0
		} else {
			r.show("wrong", s.why)
		}
		if differs <= r.healed {
			healAt = time.Time{}
		} else if healAt.IsZero() { // Others may have found the same; and it may be taken back.
			healAt = time.Now().Add(r.healPause.next())
		}
		if !healAt.IsZero() {
			most = time.Until(healAt)
		}
		require(most > 0, "%s", s.why)
		r.wait(s, s.ready, most)
		version, isWhole = r.drain(s, id, version)
		require(isWhole, "more came live than is kept")
	}
}

// wait ends when something is ready, or after some time. By time alone a feed becomes stale.
func (r *Reader) wait(s *session, ready <-chan struct{}, most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); r.show(r.state.Phase, r.state.Why) {
		select {
		case <-s.lost:
			check(s.LastError())
			require(false, "the connection was lost")
		case <-ready:
			return
		case <-time.After(min(time.Until(end), time.Second)):
		}
	}
}

// awaitMarker waits for a feed that is whole. It asks again: the live marker may have been lost.
func (r *Reader) awaitMarker(s *session) (id string) {
	for again := (pause{first: 500 * time.Millisecond, longest: 10 * time.Second}); ; {
		data, _ := s.newest(markerSubject)
		id, isReady, period := markerOf(data)
		if r.expectSweeps(period); isReady {
			return id
		}
		_, _, floorAt := s.take()
		r.swept(floorAt)
		if period == 0 {
			r.show("waiting", "there is no marker of format 1: no such feed, or not for this account")
		} else {
			r.show("waiting", "the feed is being filled")
		}
		r.wait(s, s.marked, again.next())
	}
}

// catchUp takes the snapshot, and what came meanwhile.
func (r *Reader) catchUp(s *session, id string) (version uint64) {
	r.show("catching-up", "")
	data, storedAt := s.newest(floorSubject)
	floor, hasFloor := floorOf(data)
	s.floor = floor
	for from, isWhole := uint64(0), false; !isWhole; from = version + 1 {
		end, began := r.readAll(s, from)
		if storedAt.IsZero() {
			storedAt = began
		}
		if hasFloor { // Both times are by the clocks of the servers.
			r.swept(time.Now().Add(-max(0, began.Sub(storedAt))))
		} else if !r.hasFloor {
			r.sweptAt = time.Now().Add(-r.staleAfter) // It has expired.
		}
		version, isWhole = r.drain(s, id, max(version, end))
	}
	r.state.Snapshots++
	r.healed = version
	s.caughtUp(r.held, version)
	r.held = s.objects
	return version
}

// readAll reads all filters. While the later ones are read the earlier ones go on: these are read
// once more, so that all are whole up to the end of any.
func (r *Reader) readAll(s *session, from uint64) (reached uint64, began time.Time) {
	filters, ends := r.filters(), map[string]uint64{}
	for _, filter := range filters {
		ends[filter], began = s.read(filter, from)
		reached = max(reached, ends[filter])
	}
	for _, filter := range filters[:len(filters)-1] {
		s.read(filter, max(from, ends[filter]+1))
	}
	return reached, began
}

// drain applies what came live, and answers up to where all is held then.
func (r *Reader) drain(s *session, id string, version uint64) (uint64, bool) {
	messages, isWhole, floorAt := s.take()
	r.swept(floorAt)
	for _, m := range messages {
		known := s.known(m.subject)
		require(m.sequence > s.lastLive, "%d came after %d: another stream", m.sequence, s.lastLive)
		require(m.last <= version && (known == 0 || m.last <= known), "%d never came", m.last)
		s.lastLive, version = m.sequence, max(version, m.sequence)
		if m.sequence > s.newestRead {
			clear(s.gone)
		}
		if floor, ok := floorOf(m.data); ok && m.subject == floorSubject {
			s.floor = floor
		}
		if m.subject == markerSubject {
			now, isReady, period := markerOf(m.data)
			r.expectSweeps(period)
			require(isReady && now == id, "the feed begins anew")
		}
		s.apply(m)
	}
	return version, isWhole
}

// expectSweeps counts from the first marker on, so that a feed without any sweep is stale, too.
func (r *Reader) expectSweeps(seconds float64) {
	if seconds > 0 {
		r.staleAfter = time.Duration(2*seconds)*time.Second + time.Minute
		if r.sweptAt.IsZero() {
			r.sweptAt = time.Now()
		}
	}
}

func (r *Reader) swept(at time.Time) {
	if !at.IsZero() && (!r.hasFloor || at.After(r.sweptAt)) {
		r.sweptAt, r.hasFloor = at, true
	}
}
