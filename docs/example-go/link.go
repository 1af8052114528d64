package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

const answerWithin = 5 * time.Second

// link is one connection and the live messages that came on it. It never reconnects: a new link is
// made, so that nobody takes what came before and after a cut for an unbroken run.
type link struct {
	*nats.Conn
	r      *Reader
	lost   chan struct{}
	ready  chan struct{} // Has something when there are messages to take.
	mu     sync.Mutex
	kept   []message
	bytes  int
	isFull bool
}

// open answers when it is subscribed: all live messages from then on are kept.
func open(ctx context.Context, r *Reader) (*link, error) {
	l := &link{r: r, lost: make(chan struct{}), ready: make(chan struct{}, 1)}
	refused := func(nc *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			nc.Close() // Otherwise nothing would come, and nobody would know why.
		}
	}
	conn, err := nats.Connect(r.URL, append([]nats.Option{nats.NoReconnect(), nats.ErrorHandler(refused),
		nats.PingInterval(10 * time.Second), nats.ClosedHandler(func(*nats.Conn) { close(l.lost) }),
	}, r.Options...)...)
	if err != nil {
		return nil, err
	}
	l.Conn = conn
	live := make(chan *nats.Msg, 1_024) // One for all filters, which keeps the order.
	var subs []*nats.Subscription
	for _, filter := range r.filters() {
		sub, err := conn.ChanSubscribe("ballast-live."+r.Feed+"."+filter, live)
		if err != nil {
			conn.Close()
			return nil, err
		}
		subs = append(subs, sub)
	}
	go l.receive(ctx, live, subs)
	// A server that refuses a subscription has said so before it answers.
	if err = errors.Join(conn.FlushTimeout(answerWithin), conn.LastError()); err != nil {
		conn.Close()
	}
	return l, err
}

func (l *link) receive(ctx context.Context, live chan *nats.Msg, subs []*nats.Subscription) {
	dropped := func(sub *nats.Subscription) bool { n, _ := sub.Dropped(); return n != 0 }
	for {
		select {
		case <-l.lost:
			return
		case <-ctx.Done():
			l.Close()
			return
		case m := <-live:
			if slices.ContainsFunc(subs, dropped) {
				l.Close() // One before this is missing.
			} else if told, ok := l.told(m); ok {
				l.r.heard(told)
				l.keep(told)
			}
		}
	}
}

// told refuses what the stream did not tell. Users can have answers sent to live subjects; these
// lack Nats-Last-Sequence, or name a subject on which they did not arrive.
func (l *link) told(m *nats.Msg) (message, bool) {
	feed, subject := l.r.Feed, strings.TrimPrefix(m.Subject, "ballast-live."+l.r.Feed+".")
	sequence, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 53)
	last, lastErr := strconv.ParseUint(m.Header.Get("Nats-Last-Sequence"), 10, 53)
	return message{subject, sequence, last, m.Data}, err == nil && lastErr == nil &&
		m.Header.Get("Nats-Stream") == "ballast-"+feed &&
		m.Header.Get("Nats-Subject") == "ballast."+feed+"."+subject
}

// keep holds an unbroken run within bounds. What comes after it has to be read from the stream.
func (l *link) keep(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isFull = l.isFull || len(l.kept) >= 20_000 || l.bytes >= 16<<20
	if !l.isFull {
		l.kept, l.bytes = append(l.kept, m), l.bytes+len(m.data)
	}
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

func (l *link) take() (messages []message, isWhole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	messages, isWhole = l.kept, !l.isFull
	l.kept, l.bytes, l.isFull = nil, 0, false
	return
}

// newest answers what is stored on a subject, and when it was; nothing where there is none.
func (l *link) newest(subject string) (data []byte, at time.Time, err error) {
	api := fmt.Sprintf("%s.DIRECT.GET.ballast-%s.ballast.%[2]s.%s", l.r.API, l.r.Feed, subject)
	m, err := l.Request(api, nil, answerWithin)
	if errors.Is(err, nats.ErrNoResponders) || err == nil && m.Header.Get("Status") != "" {
		return nil, at, nil
	}
	if err == nil {
		at, _ = time.Parse(time.RFC3339Nano, m.Header.Get("Nats-Time-Stamp"))
		data = m.Data
	}
	return
}

// read takes all under a filter: from a sequence on, or for 0 the newest message of each subject.
// It answers the last sequence, and the server's time at its beginning.
func (l *link) read(filter string, from uint64, take func(message)) (end uint64, began time.Time, err error) {
	stream, name := "ballast-"+l.r.Feed, rand.Text() // Whoever knew the name could take the messages.
	policy := `"last_per_subject"`
	if from > 0 {
		policy = fmt.Sprintf(`"by_start_sequence","opt_start_seq":%d`, from)
	}
	filter = "ballast." + l.r.Feed + "." + filter
	body := fmt.Sprintf(`{"stream_name":%q,"config":{"name":%q,"filter_subject":%q,"deliver_policy":%s,`+
		`"ack_policy":"none","replay_policy":"instant","mem_storage":true,"num_replicas":1,`+
		`"inactive_threshold":10000000000}}`, stream, name, filter, policy)
	api := fmt.Sprintf("%s.CONSUMER.CREATE.%s.%s.%s", l.r.API, stream, name, filter)
	m, err := l.Request(api, []byte(body), answerWithin)
	if err != nil {
		return 0, began, fmt.Errorf("%s: %w", api, err)
	}
	var made struct {
		Name    string
		Pending *uint64 `json:"num_pending"`
		Created time.Time
	}
	if json.Unmarshal(m.Data, &made) != nil || made.Name != name || made.Pending == nil {
		return 0, began, fmt.Errorf("%s: refused: %s", api, m.Data)
	}
	for left := *made.Pending; left > 0 && err == nil; {
		left, err = l.page(stream+"."+name, func(m message) {
			end = max(end, m.sequence)
			take(m)
		})
	}
	return end, made.Created, err
}

// page asks for no more than is taken before the next, and answers how many messages are left.
func (l *link) page(consumer string, take func(message)) (left uint64, err error) {
	// An inbox of its own: a late status is not to be taken for the answer to the next page.
	sub, err := l.SubscribeSync(l.NewInbox())
	if err != nil {
		return 0, err
	}
	defer sub.Unsubscribe()
	const batch = 1_000
	// The largest message has to fit, with its headers.
	body := fmt.Sprintf(`{"batch":%d,"max_bytes":%d,"no_wait":true}`, batch, l.MaxPayload()+65_536)
	err = l.PublishRequest(l.r.API+".CONSUMER.MSG.NEXT."+consumer, sub.Subject, []byte(body))
	for received := 0; received < batch && err == nil; received++ {
		m, err := sub.NextMsg(answerWithin)
		if err != nil {
			return 0, fmt.Errorf("a page did not come: %w", err)
		}
		status, tokens := m.Header.Get("Status"), strings.Split(m.Reply, ".")
		if status == "404" {
			return 0, nil
		}
		if received > 0 && (status == "408" || status == "409") {
			return left, nil
		}
		if len(tokens) > 11 {
			tokens = tokens[2:11] // Domain and account, and something random at the end.
		}
		subject, isStored := strings.CutPrefix(m.Subject, "ballast."+l.r.Feed+".")
		if status != "" || !isStored || len(tokens) != 9 {
			return 0, fmt.Errorf("a page was answered with %q from %q", status, m.Reply)
		}
		sequence, err := strconv.ParseUint(tokens[5], 10, 53)
		pending, leftErr := strconv.ParseUint(tokens[8], 10, 53)
		if err = errors.Join(err, leftErr); err != nil {
			return 0, err
		}
		take(message{subject, sequence, 0, m.Data})
		if left = pending; left == 0 {
			break
		}
	}
	return left, err
}
