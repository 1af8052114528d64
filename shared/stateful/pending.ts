// Servers that cannot start because their claim gets no volume: the message of the last Event about
// the claim, which mostly comes from the provisioner, and advice when it cannot do what was asked.
import type { KubeClient } from '../kube/client.ts';
import { isRecord, textOf } from '../kube/json.ts';
import type { KubeList, KubeObject } from '../kube/objects.ts';
import type { Claim } from './claims.ts';
import type { Pod } from './pods.ts';

export interface PendingDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

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
  { kube, nowMs, signal }: PendingDeps,
  owner: PendingOf,
  pods: readonly Pod[],
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = pods.flatMap(({ name: server, isReady }) => {
    const claim = claims.find(({ name }) => name === owner.claimName(server));
    const isWaiting = claim?.phase === 'Pending' && !claim.isEnding && !isReady;
    return isWaiting ? [{ server, claim }] : [];
  });
  if (waiting.length === 0) return new Map();
  const events = await eventsAbout(new Set(waiting.map(({ claim }) => claim.uid)), () =>
    kube.pages(EVENTS, {
      namespace: owner.namespace,
      fieldSelector: 'involvedObject.kind=PersistentVolumeClaim',
      limit: EVENTS_PER_PAGE,
      signal,
    }),
  );
  const reported = waiting.flatMap(({ server, claim }) => {
    const event = events.get(claim.uid);
    const isLate = nowMs - Date.parse(claim.createdAt ?? '') > PROVISIONED_WITHIN_MS;
    return isLate || event?.['type'] === 'Warning' ? [{ server, claim, event }] : [];
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

/** Keeps one Event for each claim: anybody who may write Events may write any number of them. */
async function eventsAbout(
  uids: ReadonlySet<string>,
  pages: () => AsyncIterable<KubeList>,
): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  for await (const { items } of pages()) {
    for (const event of items) {
      const { involvedObject } = event;
      const uid = isRecord(involvedObject) ? textOf(involvedObject['uid']) : '';
      const known = found.get(uid);
      if (uids.has(uid) && (known === undefined || isMoreTelling(event, known)))
        found.set(uid, event);
    }
  }
  return found;
}

/** A warning explains more than a note that something is awaited; of two the later counts. */
function isMoreTelling(event: KubeObject, known: KubeObject): boolean {
  const [isWarning, wasWarning] = [event, known].map(({ type }) => type === 'Warning');
  return isWarning === wasWarning ? eventTime(event) > eventTime(known) : isWarning === true;
}

const eventTime = ({ lastTimestamp, metadata }: KubeObject): string =>
  textOf(lastTimestamp) || (metadata.creationTimestamp ?? '');

function sentence(server: string, claim: Claim, event: KubeObject | undefined): string {
  const { name, accessMode, storageClassName } = claim;
  const from = storageClassName === undefined ? '' : ` of storage class ${storageClassName}`;
  const why = event === undefined ? 'no Event says why' : textOf(event['message']).trim();
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
