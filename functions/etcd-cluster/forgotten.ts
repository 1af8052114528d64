// Finds members in memory whose data is gone: with the pod that had it, or with the power of its
// node, after which the same pod starts again, finds nothing, and ends each time.
import { podName } from '../../shared/api/etcd-names.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { ResourceRef } from '../../shared/kube/objects.ts';
import { PODS } from '../../shared/stateful/parts.ts';
import type { Pod } from '../../shared/stateful/pods.ts';
import { isClosed } from './starts.ts';
import type { Parts, Peer } from './state.ts';

export interface Found {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** One that has its data comes back within seconds after it was killed. */
const ENDS_AGAIN_MS = 120_000;

/** By peer: why nobody is to wait for it. */
export async function forgotten(
  found: Found,
  { starts }: Pick<Parts, 'starts'>,
  peers: readonly Peer[],
  pods: readonly Pod[],
): Promise<readonly (readonly [string, string])[]> {
  const gone: (readonly [string, string])[] = [];
  for (const peer of peers) {
    const { name, spec, status } = peer;
    if (spec.storage.medium !== 'Memory') continue;
    const pod = pods.find((one) => one.name === podName(name));
    const { podUid } = status;
    if (pod === undefined ? await isGone(found, name, podUid) : isOtherPod(pod, peers)) {
      gone.push([name, `The pod that had the data of ${name} is gone (uid ${podUid ?? ''}).`]);
    } else if (pod?.isEnding === true) {
      gone.push([name, `The pod of ${name} ends, and with it what it has in memory.`]);
    } else if (pod !== undefined && isClosed(starts, peer) && endsAgain(pod, found.nowMs)) {
      const since = pod.unreadySince ?? '';
      gone.push([name, `${name} ends at each start since ${since}, as one does without its data.`]);
    }
  }
  return gone;
}

async function isGone(found: Found, peer: string, podUid: string | undefined): Promise<boolean> {
  return podUid !== undefined && !(await isThere(found, PODS, podName(peer), podUid));
}

function endsAgain({ trouble, unreadySince }: Pod, nowMs: number): boolean {
  const isLate = nowMs - Date.parse(unreadySince ?? '') > ENDS_AGAIN_MS;
  return trouble?.reason === 'CrashLoopBackOff' && isLate;
}

/** Another pod than the one with the data: whatever it says, it is not the member. */
export function isOtherPod({ name, uid }: Pod, peers: readonly Peer[]): boolean {
  const peer = peers.find((one) => podName(one.name) === name);
  const podUid = peer?.status.podUid;
  return podUid !== undefined && podUid !== uid;
}

/** One without its label is not listed with the others, and has its data all the same. */
export async function isThere(
  { kube, namespace, signal }: Found,
  ref: ResourceRef,
  name: string,
  uid: string,
): Promise<boolean> {
  const fieldSelector = `metadata.name=${name}`;
  const options = { namespace, fieldSelector, limit: 1, metadataOnly: true, signal };
  for await (const { items } of kube.pages(ref, options)) {
    if (items.some(({ metadata }) => metadata.uid === uid)) return true;
  }
  return false;
}
