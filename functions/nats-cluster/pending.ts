// Servers that cannot start because their claim gets no volume: what the last Event about the claim
// says, which is mostly the provisioner's own word, and what to set when it cannot do what we ask.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isRecord, textOf } from '../../shared/kube/json.ts';
import type { KubeList, KubeObject } from '../../shared/kube/objects.ts';
import { claimName, type Cluster } from './cluster.ts';
import type { Claim, Pod } from './state.ts';

interface PendingDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

const EVENTS = { group: '', version: 'v1', resource: 'events' } as const;
const EVENTS_PER_PAGE = 500;

/** A provisioner that says nothing against it gets so long: some make disks in far-away places. */
const PROVISIONED_WITHIN_MS = 60_000;

export async function findPending(
  { kube, nowMs, signal }: PendingDeps,
  { namespace }: Cluster,
  pods: readonly Pod[],
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = pods.flatMap(({ name: server, isReady }) => {
    const claim = claims.find(({ name }) => name === claimName(server));
    const isWaiting = claim?.phase === 'Pending' && !claim.isEnding && !isReady;
    return isWaiting ? [{ server, claim }] : [];
  });
  if (waiting.length === 0) return new Map();
  const events = await eventsAbout(new Set(waiting.map(({ claim }) => claim.uid)), () =>
    kube.pages(EVENTS, {
      namespace,
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
  // Once for all of them.
  const help = helpFor(claims);
  return new Map(
    reported.map(({ server, claim, event }, index) => [
      server,
      `${sentence(server, claim, event)}${index === 0 ? help : ''}`,
    ]),
  );
}

/** Of each of them one: whoever may write Events may write any number of them. */
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

/** A warning tells more than that somebody is being waited for; of two the later. */
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

/** Nothing is lost with claims that never had a volume; with others there would be. */
function helpFor(claims: readonly Claim[]): string {
  const isFresh = claims.every(({ phase }) => phase === 'Pending');
  if (!isFresh || claims[0]?.accessMode !== 'ReadWriteOncePod') return '';
  return (
    ' If that storage class cannot make ReadWriteOncePod, delete this NatsCluster and its ' +
    'claims, which are empty, and create it with jetStream.fileStorage.accessMode: ReadWriteOnce.'
  );
}
