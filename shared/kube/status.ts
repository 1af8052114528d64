// Says in an object's status what a function saw. Each function owns its part under a field
// manager of its own, and what already stands there is not written again: a write is an event,
// and an event is another look.
import { isSame } from '../hash.ts';
import type { KubeClient } from './client.ts';
import { type FieldCause, isKubeError } from './errors.ts';
import { isRecord } from './json.ts';
import type { KubeObject, ResourceRef } from './objects.ts';
import { ownsExactly } from './owned-fields.ts';
import type { CallOptions } from './request.ts';

export interface StatusWrite extends CallOptions {
  readonly ref: ResourceRef;
  /** The object as it was read, managedFields included. */
  readonly object: KubeObject;
  /** Everything that this manager says; what it said before and leaves out now is removed. */
  readonly status: Readonly<Record<string, unknown>>;
  readonly fieldManager: string;
  /**
   * Refuses with KUBE_CONFLICT when the spec, the status or an annotation of ours changed since it
   * was read, or somebody deleted the object. Other annotations and labels may change: a client
   * that writes these all the time would otherwise keep every status from being written.
   */
  readonly ifUnmoved?: boolean;
}

export interface StatusWritten {
  readonly object: KubeObject;
  readonly isChanged: boolean;
}

/**
 * Another writer between our read and our write is ordinary; more in a row than this is a fight.
 */
const MOVES_MAX = 5;
/** Annotations that functions decide by: that of an EtcdCluster says whose data it begins with. */
const OURS = 'ballast.dev/';

/** Never writes to another object that came by the same name: that is a KUBE_CONFLICT. */
export async function writeStatus(kube: KubeClient, write: StatusWrite): Promise<StatusWritten> {
  const { ref, object, ifUnmoved = false, signal, timeoutMs } = write;
  const { name, namespace, uid } = object.metadata;
  let current = object;
  for (let moves = 0; ; moves += 1) {
    try {
      return await writeOnce(kube, { ...write, object: current });
    } catch (error) {
      if (moves === MOVES_MAX || !isKubeError(error, 'KUBE_CONFLICT')) throw error;
      const target = { name, ...(namespace === undefined ? {} : { namespace }) };
      const now = await kube.get(ref, target, { signal, timeoutMs });
      if (now?.metadata.uid !== uid) throw error;
      if (ifUnmoved && !isSame(stateOf(now), stateOf(object))) throw error;
      current = now;
    }
  }
}

/** The API server counts the generation up with each change of the spec, and with a deletion. */
const stateOf = ({ metadata: { generation, annotations = {} }, status }: KubeObject): object => [
  generation,
  status,
  Object.entries(annotations).filter(([name]) => name.startsWith(OURS)),
];

async function writeOnce(kube: KubeClient, write: StatusWrite): Promise<StatusWritten> {
  const { ref, object, status, fieldManager, signal, timeoutMs } = write;
  if (ownsExactly(object, fieldManager, status)) return { object, isChanged: false };
  const { name, namespace, resourceVersion } = object.metadata;
  const manifest = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      // Not the uid: the API server does not check it when it is the status of a custom resource
      // that is applied (1.36.3), and would write to whatever has the name now.
      resourceVersion,
    },
    status,
  };
  try {
    const written = await kube.apply(ref, manifest, {
      subresource: 'status',
      fieldManager,
      // A function's status is its own; an edit by hand must not stop it for ever.
      force: true,
      signal,
      timeoutMs,
    });
    return { object: written, isChanged: written.metadata.resourceVersion !== resourceVersion };
  } catch (error) {
    if (!isKubeError(error, 'KUBE_INVALID')) throw error;
    const cleaned = await dropForeign(kube, write, error.answer?.causes ?? []);
    if (cleaned === undefined) throw error;
    return writeOnce(kube, { ...write, object: cleaned });
  }
}

/**
 * An object that somebody else wrote into by hand stays, as null, when all in it is taken back, and
 * that breaks its schema: what the API server complains of, and we do not say, goes by a patch.
 */
async function dropForeign(
  kube: KubeClient,
  write: StatusWrite,
  causes: readonly FieldCause[],
): Promise<KubeObject | undefined> {
  const { ref, object, status, signal, timeoutMs } = write;
  const { name, namespace, resourceVersion } = object.metadata;
  const said = isRecord(object['status']) ? object['status'] : {};
  const broken = new Set(causes.map(({ field }) => /^status\.([^.[]+)/.exec(field)?.[1]));
  const left = Object.keys(said).filter((field) => broken.has(field) && !(field in status));
  if (left.length === 0) return undefined;
  const target = { name, ...(namespace === undefined ? {} : { namespace }), subresource: 'status' };
  const gone = Object.fromEntries(left.map((field) => [field, null]));
  const body = { metadata: { resourceVersion }, status: gone };
  return kube.patch(ref, target, { type: 'merge', body }, { signal, timeoutMs });
}
