// Tells whether a Takeover is still what was decided on. Members of etcd are asked, and objects
// made, without a precondition; a look may have taken long, and another instance may have turned
// the Takeover back meanwhile.
import { isDeepStrictEqual } from 'node:util';
import { TAKEOVERS } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isEnding } from '../../shared/kube/objects.ts';
import { type Takeover, takeoverOf } from './object.ts';

/** Labels and conditions may be others by now: somebody may change them all the time. */
export async function isAsRead(
  kube: KubeClient,
  { namespace, name, uid, generation, status }: Takeover,
  signal: AbortSignal,
): Promise<boolean> {
  const object = await kube.get(TAKEOVERS, { namespace, name }, { signal });
  if (object === null || isEnding(object)) return false;
  const now = takeoverOf(object);
  const isSame = now.uid === uid && now.generation === generation;
  return isSame && isDeepStrictEqual(now.status.work, status.work);
}
