// The question to etcd itself, past every API server: in which versions are the objects of this kind
// stored. It counts for an answer only when etcd and the API server have the same objects at the
// same revision, so that an etcd of another cluster, or a wrong prefix, proves nothing.
import type { Verification } from '../../shared/api/storage-migration.ts';
import { Failure } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import { countStored, type StoredCount } from '../../shared/stored/audit.ts';
import { encodingOf } from '../../shared/stored/encoding.ts';
import { keyPrefixes } from '../../shared/stored/place.ts';
import type { StoredSource, StoredValue } from '../../shared/stored/value.ts';
import type { EtcdDoor } from './doors.ts';
import type { Migration } from './migration.ts';
import { nameOf } from './rewrite.ts';
import { ETCD_CANNOT_TELL, type Word } from './sayings.ts';
import type { Target } from './target.ts';

export type EtcdAnswer =
  | { readonly says: 'current'; readonly revision: string; readonly values: number }
  /** Something is stored in another version. */
  | { readonly says: 'old'; readonly message: string }
  /** It says nothing that could be relied on. */
  | { readonly says: 'nothing'; readonly why: Word };

const ETCD: Verification = 'Etcd';

/** A million objects; with the time that a request works before, it stays below its deadline. */
const READ_MAX_MS = 25_000;
/** Of a list that is asked for its length. */
const LIST_TIMEOUT_MS = 5_000;

export const asksEtcd = ({ spec }: Migration): boolean => spec.verify.includes(ETCD);

/** Known before anything is written. */
export function etcdMissing(etcd: EtcdDoor | undefined, migration: Migration): Word | undefined {
  if (etcd !== undefined || !asksEtcd(migration)) return undefined;
  const message =
    'spec.verify names Etcd, and the function knows no etcd: set ETCD_ENDPOINTS, and where etcd ' +
    'wants them ETCD_CA_FILE, ETCD_CERT_FILE and ETCD_KEY_FILE, in its Service; or take Etcd out ' +
    'of spec.verify.';
  return { reason: 'EtcdUnknown', message };
}

export async function askEtcd(
  kube: KubeClient,
  etcd: EtcdDoor,
  target: Target,
  signal: AbortSignal,
): Promise<EtcdAnswer> {
  const limit = AbortSignal.timeout(READ_MAX_MS);
  const either = AbortSignal.any([signal, limit]);
  try {
    const revision = await etcd.client.revision(either);
    const known = await objectsAt(kube, target.ref, revision, signal);
    if (known === undefined) return nothing(otherEtcd(etcd, `has no revision ${revision}`));
    return await compare(etcd, target, { ...known, revision }, either);
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      const message = `etcd was not read to the end in ${READ_MAX_MS / 1_000} s; it is tried again.`;
      return nothing({ reason: 'EtcdUnavailable', message });
    }
    if (!(error instanceof Failure) || isKubeError(error)) throw error;
    return nothing({ reason: 'EtcdUnavailable', message: error.message });
  }
}

const nothing = (why: Word): EtcdAnswer => ({ says: 'nothing', why });

interface Known {
  readonly total: number;
  readonly first: KubeObject | undefined;
}

/** What the API server has of the kind at just this revision; undefined when it has no such. */
async function objectsAt(
  kube: KubeClient,
  ref: ResourceRef,
  revision: string,
  signal: AbortSignal,
): Promise<Known | undefined> {
  const options = { limit: 1, metadataOnly: true, timeoutMs: LIST_TIMEOUT_MS, signal };
  try {
    const { items, metadata } = await kube.list(ref, {
      ...options,
      freshness: { exact: revision },
    });
    return { total: items.length + (metadata.remainingItemCount ?? 0), first: items[0] };
  } catch (error) {
    const isUnknown =
      isKubeError(error, 'KUBE_EXPIRED') ||
      (isKubeError(error) && /Too large resource version/i.test(error.message));
    if (isUnknown) return undefined;
    throw error;
  }
}

async function compare(
  etcd: EtcdDoor,
  { ref, version }: Target,
  { total, first, revision }: Known & { readonly revision: string },
  signal: AbortSignal,
): Promise<EtcdAnswer> {
  const { client, prefixes } = etcd;
  const under = keyPrefixes(ref, prefixes);
  const witness = new Witness(first);
  const source = witness.over(client.entries(under, { revision, signal }));
  const stored = await countStored(source, ref, { prefixes, signal });
  if (stored.total !== total) {
    const has = `has ${stored.total} values under ${under.join(' and ')} and the API server ${total} objects`;
    return nothing(otherEtcd(etcd, has));
  }
  if (!witness.isSeen) {
    const name = first === undefined ? '' : nameOf(first.metadata);
    return nothing(otherEtcd(etcd, `has another object ${name} than the API server`));
  }
  return judged(stored, { what: resourceName(ref), version, revision });
}

interface About {
  readonly what: string;
  readonly version: string;
  readonly revision: string;
}

/**
 * No message names the revision: it is said again and again while it is so, and a status that
 * changes wakes the function.
 */
export function judged(stored: StoredCount, { what, version, revision }: About): EtcdAnswer {
  const { total, versions, hidden } = stored;
  const old = [...versions].filter(([name]) => name !== version);
  if (old.length > 0) {
    const each = old.map(
      ([name, { count, examples }]) => `${count} in ${name} (${examples.join(', ')})`,
    );
    const message =
      `etcd has values of ${what} in other versions than ${version}: ${each.join('; ')}. The API ` +
      'server changed nothing when it wrote them once more.';
    return { says: 'old', message };
  }
  if (hidden.count === 0) return { says: 'current', revision, values: total };
  const message =
    `Of ${total} values of ${what} in etcd ${hidden.count} do not show their version, because they ` +
    `are encrypted or unreadable, such as ${hidden.examples[0] ?? ''}. Take Etcd out of spec.verify, ` +
    'or have them stored in the clear and edit the spec.';
  return nothing({ reason: ETCD_CANNOT_TELL, message });
}

function otherEtcd({ endpoints }: EtcdDoor, has: string): Word {
  const message =
    `The etcd at ${endpoints.join(', ')} is not the one that holds the kind: it ${has}. Name the ` +
    "API server's own in ETCD_ENDPOINTS, and where it keeps its keys in ETCD_PREFIXES.";
  return { reason: 'EtcdIsAnother', message };
}

/** Whether the object that the API server lists first is among the values, told by its uid. */
class Witness {
  readonly #end: string;
  readonly #uid: string;
  isSeen: boolean;

  constructor(first: KubeObject | undefined) {
    this.isSeen = first === undefined;
    this.#end = first === undefined ? '' : `/${nameOf(first.metadata)}`;
    this.#uid = first?.metadata.uid ?? '';
  }

  async *over(source: StoredSource): AsyncGenerator<readonly StoredValue[], void, undefined> {
    for await (const batch of source) {
      this.isSeen ||= batch.some((value) => this.#isIts(value));
      yield batch;
    }
  }

  #isIts(value: StoredValue): boolean {
    if (!value.key.endsWith(this.#end)) return false;
    // An encrypted one hides its uid, and is judged by what it hides.
    const whole = (): Uint8Array => value.whole();
    const { encoding } = encodingOf(value.head, whole);
    return encoding === 'encrypted' || Buffer.from(whole()).includes(this.#uid);
  }
}
