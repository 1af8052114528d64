// Says in an object's status what a function saw. Each function owns its part under a field
// manager of its own, and what already stands there is not written again: a write is an event,
// and an event is another look.
import type { KubeClient } from './client.ts';
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
  /** Refuses with KUBE_CONFLICT when anything of the object changed since it was read. */
  readonly ifUnmoved?: boolean;
}

export interface StatusWritten {
  readonly object: KubeObject;
  readonly isChanged: boolean;
}

export async function writeStatus(kube: KubeClient, write: StatusWrite): Promise<StatusWritten> {
  const { ref, object, status, fieldManager, ifUnmoved = false, signal, timeoutMs } = write;
  if (ownsExactly(object, fieldManager, status)) return { object, isChanged: false };
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const manifest = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      // An object of the same name that came after it is another one, about which nothing was seen.
      uid,
      ...(ifUnmoved ? { resourceVersion } : {}),
    },
    status,
  };
  const written = await kube.apply(ref, manifest, {
    subresource: 'status',
    fieldManager,
    // A function's status is its own; what somebody edited into it by hand must not stop it for
    // ever.
    force: true,
    signal,
    timeoutMs,
  });
  return { object: written, isChanged: written.metadata.resourceVersion !== resourceVersion };
}
