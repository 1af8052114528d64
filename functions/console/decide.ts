// Decides what is wrong and what to do about it: conditions that are not as they ought to be, what
// nobody looks at, what waits, and what cannot be read. Pure.
import { feedLastsMs, feedSweptAt, stalenessOf } from '../../shared/kube/swept-kinds.ts';
import { type Condition, conditionsOf } from '../../shared/kube/conditions.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import { sweptKey } from '../../shared/kube/sweep-lease.ts';
import { fieldOf, short, textAt } from './field-of.ts';
import type { Problem, Severity } from './answers.ts';
import { type Expected, SEVERITIES } from './kinds.ts';
import { ABOUT_LETTERS, aboutLetter } from './letters.ts';
import type { KindObservation, Observation } from './observe.ts';

/** A new object has this long until somebody must have looked at it. */
const FIRST_LOOK_MS = 120_000;

/** The worst first, and of these the eldest. */
export function decide(observation: Observation): readonly Problem[] {
  const { nowMs, kinds, letters } = observation;
  const { events, failure } = letters;
  const all = [
    ...aboutReplica(observation),
    ...kinds.flatMap((one) => aboutKind(one, nowMs)),
    ...(failure === undefined ? [] : [notRead(ABOUT_LETTERS, failure)]),
    ...events.map((event) => aboutLetter(event, nowMs)),
  ];
  return all.toSorted(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      (a.since ?? '').localeCompare(b.since ?? ''),
  );
}

function aboutReplica({ replica }: Observation): readonly Problem[] {
  const { phase, why, isStale } = replica;
  const about = { kind: 'MetadataFeed', docs: 'docs/feed.md#status' };
  const next = 'What runs where is as of before; look at the feed, at NATS and at this function.';
  if (phase === 'wrong' || phase === 'connecting' || phase === 'waiting') {
    const says = `The copy of the feed is ${phase}${why === undefined ? '' : `: ${why}`}.`;
    return [{ ...about, severity: 'warning', reason: 'NotCurrent', says: short(says), next }];
  }
  if (isStale !== true) return [];
  const says = 'Nobody has compared the feed with the API server in time.';
  return [{ ...about, severity: 'unknown', reason: 'NotSwept', says, next }];
}

function aboutKind(one: KindObservation, nowMs: number): readonly Problem[] {
  const { shown, objects, failure } = one;
  const { kind, docs } = shown;
  if (failure !== undefined) return [notRead({ kind, docs }, failure)];
  const stale = staleIn(one, nowMs);
  return [
    ...(stale.kind === undefined ? [] : [stale.kind]),
    ...objects.flatMap((object) => {
      const isOver = shown.over.includes(phaseOf(object));
      const own = isOver ? undefined : stale.of(object);
      return [...(own === undefined ? [] : [own]), ...aboutObject(one, object, nowMs)];
    }),
  ];
}

const notRead = (about: Pick<Problem, 'kind' | 'docs'>, failure: string): Problem => ({
  ...about,
  severity: 'unknown',
  reason: 'NotRead',
  says: short(failure),
  next: 'Look at the API server, and at the rights of account console.',
});

export interface Stale {
  /** Said once, where nobody looks at any. */
  readonly kind?: Problem;
  /** Whether nobody looks at this one is told by its own problem. */
  of(object: KubeObject): Problem | undefined;
  isStale(object: KubeObject): boolean;
}

/** Which objects nobody looked at in time; what their status says is of before. */
export function staleIn(one: KindObservation, nowMs: number): Stale {
  const { shown, objects, lease } = one;
  if (shown.watched === undefined) return staleFeeds(one, nowMs);
  const living = objects.filter((object) => !shown.over.includes(phaseOf(object)));
  const none = { of: () => undefined, isStale: () => false };
  if (lease === undefined || living.length === 0) return none;
  const { renewTime } = lease;
  const ageMs = renewTime === undefined ? Infinity : nowMs - Date.parse(renewTime);
  const found = stalenessOf(lease, ageMs, nowMs);
  const { functionName } = shown.watched;
  const sweep = `PingSource ${functionName}-sweep`;
  const next = `Look at function ${functionName}: its pods, its log, ${sweep}.`;
  const about = { severity: 'unknown', kind: shown.kind, reason: 'NotSwept', next } as const;
  const { docs } = shown;
  if (found?.isAll === true) {
    const since = renewTime === undefined ? 'ever, as far as is known' : `since ${renewTime}`;
    const says = `Nobody has looked at the ${living.length} of this kind ${since}.`;
    const when = renewTime === undefined ? {} : { since: renewTime };
    const kind = { ...about, says: short(says), docs, ...when };
    return { kind, of: () => undefined, isStale: (object) => living.includes(object) };
  }
  const failingSince = (object: KubeObject): string | undefined =>
    found?.failing.get(sweptKey(object));
  return {
    of: (object) => {
      const since = failingSince(object);
      if (since === undefined) return undefined;
      const says = `Each look at it has failed since ${since}.`;
      return { ...about, ...nameOf(object), says: short(says), docs, since };
    },
    isStale: (object) => failingSince(object) !== undefined,
  };
}

function staleFeeds({ shown }: KindObservation, nowMs: number): Stale {
  const isStale = (feed: KubeObject): boolean => {
    const ageMs = nowMs - Date.parse(feedSweptAt(feed) ?? '');
    return !(ageMs <= feedLastsMs(feed));
  };
  return {
    isStale,
    of: (feed) => {
      if (!isStale(feed)) return undefined;
      const since = feedSweptAt(feed);
      return {
        severity: 'unknown',
        kind: shown.kind,
        ...nameOf(feed),
        reason: 'NotSwept',
        says: short(`Nobody has compared it with the API server since ${since ?? 'it was made'}.`),
        next: 'Look at function metadata: its pods, its log, PingSource metadata-sweep.',
        docs: shown.docs,
        ...(since === undefined ? {} : { since }),
      };
    },
  };
}

function aboutObject(
  { shown }: KindObservation,
  object: KubeObject,
  nowMs: number,
): readonly Problem[] {
  const conditions = new Map(conditionsOf(object).map((one) => [one.type, one]));
  const expected = shown.expects.flatMap((one) => {
    if (one.phase !== undefined && one.phase !== phaseOf(object)) return [];
    const condition = conditions.get(one.condition);
    const found = judge(one, condition, object, nowMs);
    const next = one.nextByReason?.[condition?.reason ?? ''] ?? one.next;
    return found === undefined ? [] : [{ ...found, next }];
  });
  const distinct = expected.filter((one, at) => !isToldIn(expected.slice(0, at), one));
  const waitsFor = fieldOf(object, 'status.plan.waitsFor');
  const waits =
    typeof waitsFor === 'string' && expected.length === 0
      ? [{ severity: 'note', reason: 'Waits', says: short(waitsFor), next: WAITING } as const]
      : [];
  const about = { kind: shown.kind, ...nameOf(object), docs: shown.docs };
  return [...distinct, ...waits].map((one) => ({ ...about, ...one }));
}

/** Conditions that turn for one cause say the same of it, and are one thing that is wrong. */
const isToldIn = (before: readonly Judged[], { severity, says }: Judged): boolean =>
  says !== '' && before.some((one) => one.severity === severity && one.says === says);

const WAITING = 'Nothing has to be done unless it waits for you.';

type Judged = Pick<Problem, 'severity' | 'reason' | 'says' | 'since'>;

function judge(
  { condition, status, otherwise, isOptional }: Expected,
  found: Condition | undefined,
  object: KubeObject,
  nowMs: number,
): Judged | undefined {
  if (found === undefined) {
    const createdMs = Date.parse(object.metadata.creationTimestamp ?? '');
    if (isOptional === true || nowMs - createdMs <= FIRST_LOOK_MS) return undefined;
    const says = `It has no condition ${condition}: nobody has looked at it yet.`;
    return { severity: 'unknown', reason: 'NoStatus', says };
  }
  if (found.status === status) return undefined;
  return {
    severity: severityOf(found, otherwise),
    reason: short(`${condition}: ${found.reason}`),
    says: short(found.message),
    since: short(found.lastTransitionTime),
  };
}

/** Somebody asked for it in the spec. */
const WANTED: readonly string[] = ['Hibernating', 'Paused', 'Suspended'];

function severityOf({ status, reason }: Condition, otherwise: Severity): Severity {
  // NoContact is no ignorance: the function looks, and no server answers it.
  if (status === 'Unknown' && reason !== 'NoContact') return 'unknown';
  return WANTED.includes(reason) ? 'note' : otherwise;
}

const phaseOf = (object: KubeObject): string => textAt(object, 'status.phase');

function nameOf({
  metadata: { namespace, name },
}: KubeObject): Pick<Problem, 'namespace' | 'name'> {
  return namespace === undefined ? { name } : { namespace, name };
}
