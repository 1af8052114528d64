// porcupine-check reads what concurrent clients did with keys, an operation in each line of JSON,
// and tells whether there is an order of all of it that a single store could have seen: each
// operation at one moment between its call and its return. A write whose outcome nobody knows may
// have happened at any moment after its call, or never.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is one line. A value that is left out is that of no key.
type operation struct {
	Client int    `json:"client"`
	Op     string `json:"op"`
	Key    string `json:"key"`
	// What was put, or read, or put by a cas.
	Value *string `json:"value"`
	// For a cas: what the key had to be, and whether it was.
	Expected *string `json:"expected"`
	Swapped  bool    `json:"swapped"`
	// In one unit from one clock.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
	// ok, failed (certainly not done) or unknown.
	Outcome string `json:"outcome"`
	// The one that the write made, or that the value which was read was made at; 0 when not known.
	Revision int64 `json:"revision"`
}

// state is a key between two operations.
type state struct {
	isThere bool
	value   string
	// The revision of its last write, or a lower bound of it.
	revision int64
	isExact  bool
}

type verdict struct {
	Result     string `json:"result"`
	Key        string `json:"key,omitempty"`
	Operations int    `json:"operations"`
}

const (
	linearizable = "linearizable"
	illegal      = "not linearizable"
	undecided    = "undecided"
)

const lineBytesMax = 16 << 20

// leastTime is for each key, however much the others took.
const leastTime = 100 * time.Millisecond

func main() {
	within := flag.Duration("within", 30*time.Second, "the time after which it is undecided")
	flag.Parse()
	byKey, err := read(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(check(byKey, *within)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func read(from io.Reader) (map[string][]porcupine.Operation, error) {
	byKey := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, lineBytesMax)
	for number := 1; lines.Scan(); number++ {
		one := operation{}
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if err := one.validate(); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		isRead := one.Op == "get"
		if one.Outcome == "failed" || (isRead && one.Outcome == "unknown") {
			continue
		}
		if one.Outcome == "unknown" {
			one.Return = math.MaxInt64
		}
		byKey[one.Key] = append(byKey[one.Key], porcupine.Operation{
			ClientId: one.Client, Input: one, Call: one.Call, Output: one, Return: one.Return,
		})
	}
	return byKey, lines.Err()
}

func (one operation) validate() error {
	switch one.Op {
	case "put":
		if one.Value == nil {
			return errors.New("a put without a value")
		}
	case "get", "delete", "cas":
	default:
		return fmt.Errorf("no operation is named %q", one.Op)
	}
	switch one.Outcome {
	case "ok", "failed", "unknown":
	default:
		return fmt.Errorf("no outcome is named %q", one.Outcome)
	}
	if one.Key == "" {
		return errors.New("no key")
	}
	if one.Outcome == "ok" && one.Return < one.Call {
		return errors.New("a return before its call")
	}
	return nil
}

// check looks at the keys one by one, since none can break the order of another; the largest come
// last, so that one that takes all the time does not hide a fault in the others.
func check(byKey map[string][]porcupine.Operation, within time.Duration) verdict {
	keys := make([]string, 0, len(byKey))
	count := 0
	for key, operations := range byKey {
		keys = append(keys, key)
		count += len(operations)
	}
	sort.Slice(keys, func(i, j int) bool {
		one, other := len(byKey[keys[i]]), len(byKey[keys[j]])
		return one < other || (one == other && keys[i] < keys[j])
	})
	end := time.Now().Add(within)
	told := verdict{Result: linearizable, Operations: count}
	for _, key := range keys {
		left := max(time.Until(end), leastTime)
		switch porcupine.CheckOperationsTimeout(model, byKey[key], left) {
		case porcupine.Illegal:
			return verdict{Result: illegal, Key: key, Operations: count}
		case porcupine.Unknown:
			told = verdict{Result: undecided, Key: key, Operations: count}
		}
	}
	return told
}

var model = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(before, input, _ any) (bool, any) {
		return input.(operation).follows(before.(state))
	},
	Equal: func(one, other any) bool { return one == other },
}

// follows tells whether the operation may come next, and what the key is then.
func (one operation) follows(before state) (bool, state) {
	isKnown := one.Outcome == "ok"
	switch one.Op {
	case "get":
		return one.reads(before)
	case "put":
		return one.writes(before, one.Value)
	case "delete":
		if !before.isThere {
			return true, before
		}
		return one.writes(before, nil)
	default:
		isExpected := before.is(one.Expected)
		if isKnown && one.Swapped != isExpected {
			return false, before
		}
		if !isExpected {
			return true, before
		}
		return one.writes(before, one.Value)
	}
}

func (one operation) reads(before state) (bool, state) {
	if !before.is(one.Value) {
		return false, before
	}
	if !before.isThere || one.Revision == 0 {
		return true, before
	}
	if before.isExact {
		return one.Revision == before.revision, before
	}
	after := before
	after.revision, after.isExact = one.Revision, true
	return one.Revision >= before.revision, after
}

func (one operation) writes(before state, value *string) (bool, state) {
	after := state{isThere: value != nil, revision: before.revision + 1}
	if value != nil {
		after.value = *value
	}
	if one.Outcome == "unknown" || one.Revision == 0 {
		return true, after
	}
	after.revision, after.isExact = one.Revision, true
	return one.Revision > before.revision, after
}

func (now state) is(value *string) bool {
	if value == nil {
		return !now.isThere
	}
	return now.isThere && now.value == *value
}
