// Servers that cannot start because their claim gets no volume: the message of the last Event about
// the claim, which mostly comes from the provisioner, and advice when it cannot do what was asked.
import { cut } from '../cut.ts';
import type { KubeClient } from '../kube/client.ts';
import { isRecord, textOf } from '../kube/json.ts';
import type { KubeList, KubeObject } from '../kube/objects.ts';
import type { Claim } from './claims.ts';
import type { Pod } from './pods.ts';

/** The Events about claims, as they were read last. All of it may be lost. */
export interface PendingMemory {
  claimEvents?: { readonly atMs: number; readonly byUid: ReadonlyMap<string, ClaimEvent> };
}

export interface PendingDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly memory: PendingMemory;
}

/** Little is kept of it: anybody who may write Events may write long ones. */
interface ClaimEvent {
  readonly isWarning: boolean;
  readonly message: string;
  readonly time: string;
}

const MESSAGE_BYTES_MAX = 1_000;
/** A function that waits looks each second, and a namespace may have thousands of Events. */
const EVENTS_FRESH_MS = 10_000;

/** The owner of the servers, and how things of his are called where they are told. */
export interface PendingOf {
  readonly kind: string;
  readonly namespace: string;
  /** The field of its spec that holds the access mode. */
  readonly accessModeField: string;
  readonly claimName: (server: string) => string;
}

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
const EVENTS_PER_PAGE = 500;

/** Time for a provisioner that reports no failure: some make their disks far away. */
const PROVISIONED_WITHIN_MS = 60_000;

/** By the name of the server, which is its pod's, and why. */
export async function findPending(
  deps: PendingDeps,
  owner: PendingOf,
  pods: readonly Pod[],
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = pods.flatMap(({ name: server, isReady }) => {
    const claim = claims.find(({ name }) => name === owner.claimName(server));
    const isWaiting = claim?.phase === 'Pending' && !claim.isEnding && !isReady;
    return isWaiting ? [{ server, claim }] : [];
  });
  if (waiting.length === 0) {
    delete deps.memory.claimEvents;
    return new Map();
  }
  const uids = new Set(waiting.map(({ claim }) => claim.uid));
  const events = await freshEvents(deps, owner, uids);
  const reported = waiting.flatMap(({ server, claim }) => {
    const event = events.get(claim.uid);
    const isLate = deps.nowMs - Date.parse(claim.createdAt ?? '') > PROVISIONED_WITHIN_MS;
    return isLate || event?.isWarning === true ? [{ server, claim, event }] : [];
  });
  // The advice is the same for all claims, so it is given once.
  const help = helpFor(owner, claims);
  return new Map(
    reported.map(({ server, claim, event }, index) => [
      server,
      `${sentence(server, claim, event)}${index === 0 ? help : ''}`,
    ]),
  );
}

/** Those of the last time, unless that is long ago: a claim of since then is told a bit later. */
async function freshEvents(
  { kube, nowMs, signal, memory }: PendingDeps,
  { namespace }: PendingOf,
  uids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, ClaimEvent>> {
  const known = memory.claimEvents;
  if (known !== undefined && nowMs - known.atMs < EVENTS_FRESH_MS) return known.byUid;
  const fieldSelector = 'involvedObject.kind=PersistentVolumeClaim';
  const options = { namespace, fieldSelector, limit: EVENTS_PER_PAGE, signal };
  const byUid = await eventsAbout(uids, kube.pages(EVENTS, options));
  memory.claimEvents = { atMs: nowMs, byUid };
  return byUid;
}

/** Keeps one Event for each claim: anybody who may write Events may write any number of them. */
async function eventsAbout(
  uids: ReadonlySet<string>,
  pages: AsyncIterable<KubeList>,
): Promise<ReadonlyMap<string, ClaimEvent>> {
  const found = new Map<string, ClaimEvent>();
  for await (const { items } of pages) {
    for (const object of items) {
      const { involvedObject } = object;
      const uid = isRecord(involvedObject) ? textOf(involvedObject['uid']) : '';
      if (!uids.has(uid)) continue;
      const event = claimEventOf(object);
      const known = found.get(uid);
      if (known === undefined || isMoreTelling(event, known)) found.set(uid, event);
    }
  }
  return found;
}

const claimEventOf = ({ type, message, lastTimestamp, metadata }: KubeObject): ClaimEvent => ({
  isWarning: type === 'Warning',
  message: cut(textOf(message).trim(), MESSAGE_BYTES_MAX),
  time: textOf(lastTimestamp) || (metadata.creationTimestamp ?? ''),
});

/** A warning explains more than a note that something is awaited; of two the later counts. */
function isMoreTelling(event: ClaimEvent, known: ClaimEvent): boolean {
  return event.isWarning === known.isWarning ? event.time > known.time : event.isWarning;
}

function sentence(server: string, claim: Claim, event: ClaimEvent | undefined): string {
  const { name, accessMode, storageClassName } = claim;
  const from = storageClassName === undefined ? '' : ` of storage class ${storageClassName}`;
  const why = event === undefined ? 'no Event says why' : event.message;
  return `${server} has no volume: claim ${name} (${accessMode})${from} is Pending: ${why}.`;
}

/** Deleting claims that never had a volume loses nothing, so only then it is advised. */
function helpFor({ kind, accessModeField }: PendingOf, claims: readonly Claim[]): string {
  const isFresh = claims.every(({ phase }) => phase === 'Pending');
  if (!isFresh || claims[0]?.accessMode !== 'ReadWriteOncePod') return '';
  return (
    ` If that storage class cannot make ReadWriteOncePod, delete this ${kind} and its claims, ` +
    `which are empty, and create it with ${accessModeField}: ReadWriteOnce.`
  );
}
