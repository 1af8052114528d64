// The question to etcd itself, past every API server: in which versions are the objects of this
// kind stored. It counts for an answer only when etcd and the API server have the same objects at
// the same revision, so that an etcd of another cluster, or a wrong prefix, proves nothing.
import { Failure } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import { countStored } from '../../shared/stored/audit.ts';
import { encodingOf } from '../../shared/stored/encoding.ts';
import { apiVersionOf, keyPrefixes } from '../../shared/stored/place.ts';
import type { StoredSource, StoredValue } from '../../shared/stored/value.ts';
import type { EtcdAccess } from './deps.ts';
import { type EtcdAnswer, isAnother, judgeStored, unusable } from './etcd-verdict.ts';
import { nameOf } from './rewrite.ts';
import type { Target } from './observe.ts';

/** A list of one item, for the number of objects. */
const LIST_TIMEOUT_MS = 5_000;

export interface EtcdQuestion {
  readonly kube: KubeClient;
  readonly etcd: EtcdAccess;
  readonly target: Target;
  /** The resourceVersion of the pass that was made: etcd is at least as far. */
  readonly since: string;
  /** For how long etcd may be read. */
  readonly workMs: number;
}

export async function askEtcd(
  { kube, etcd, target, since, workMs }: EtcdQuestion,
  signal: AbortSignal,
): Promise<EtcdAnswer> {
  const limit = AbortSignal.timeout(workMs);
  const either = AbortSignal.any([signal, limit]);
  try {
    const revision = await etcd.client.revision(either);
    if (BigInt(revision) < BigInt(since)) return isAnother(etcd, 'is not as far as the API server');
    const known = await objectsAt(kube, target.ref, revision, signal);
    if (known !== undefined) return await compare(etcd, target, { ...known, revision }, either);
    return isAnother(etcd, 'is at a revision that the API server does not know');
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) {
      const message =
        `etcd was not read whole in ${workMs / 1_000} s, and is tried again: set WORK_SECONDS ` +
        'higher if it has too many values for that.';
      return unusable({ reason: 'EtcdUnavailable', message });
    }
    if (!(error instanceof Failure) || isKubeError(error)) throw error;
    return unusable({ reason: 'EtcdUnavailable', message: error.message });
  }
}

interface Known {
  readonly total: number;
  readonly first: KubeObject | undefined;
}

/**
 * The objects of the kind at exactly this revision; undefined when the API server no longer has it.
 */
async function objectsAt(
  kube: KubeClient,
  ref: ResourceRef,
  revision: string,
  signal: AbortSignal,
): Promise<Known | undefined> {
  const bounds = { limit: 1, metadataOnly: true, timeoutMs: LIST_TIMEOUT_MS, signal };
  try {
    const list = await kube.list(ref, { ...bounds, freshness: { exact: revision } });
    const { items, metadata } = list;
    return { total: items.length + (metadata.remainingItemCount ?? 0), first: items[0] };
  } catch (error) {
    if (isKubeError(error) && isOfNoRevision(error.code, error.message)) return undefined;
    throw error;
  }
}

/** Forgotten, or not reached yet. */
const isOfNoRevision = (code: string, message: string): boolean =>
  code === 'KUBE_EXPIRED' || /too large resource version/i.test(message);

async function compare(
  etcd: EtcdAccess,
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
    const place = under.join(' and ');
    if (stored.total === 0) return isAnother(etcd, `has no values under ${place}`);
    return isAnother(etcd, `has more or fewer values under ${place} than the API server objects`);
  }
  const apiVersion = apiVersionOf(ref.group, version);
  if (witness.isSeen) return judgeStored(stored, { kind: resourceName(ref), apiVersion, revision });
  const name = first === undefined ? '' : nameOf(first.metadata);
  return isAnother(etcd, `has another object ${name} than the API server`);
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
    const whole = (): Uint8Array => value.whole();
    // An encrypted one hides its uid, and is judged by what it hides.
    const { encoding } = encodingOf(value.head, whole);
    return encoding === 'encrypted' || Buffer.from(whole()).includes(this.#uid);
  }
}
